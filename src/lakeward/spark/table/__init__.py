"""What both doors share of a table and its rows.

connections     one connection for each process and cluster
chosen_table    the table that options name
types           Spark's types ↔ column types, in Spark's JSON form
field_metadata  … what those cannot say, in the metadata of a field
spark_arrow     batches as Spark wants them, and back
pushed_filters  Spark's filters → ours
property_names  properties of CREATE TABLE that are ours, or nearly
one_sentence    errors as Spark shows them shortest
"""
