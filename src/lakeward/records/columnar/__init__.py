"""Many rows ↔ columns, compiled.

columns         columns as Arrow lays them out
row_kernels     rows ↔ columns, in one call
flat_rows       … the half for scalars
nested_columns  … the half for ARRAY, MAP and ROW
"""
