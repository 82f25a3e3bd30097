"""What people write, in files and forms → values of a table.

text_columns  texts, as in CSV → a column of a table's type
json_columns  JSON values → a column of a table's type
misfits       values that are not of their column's type
"""
