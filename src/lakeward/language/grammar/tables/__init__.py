"""Tables.

| module | what it reads |
|---|---|
| create_table | CREATE TABLE |
| alter_table | ALTER TABLE |
| columns | columns, the key and the watermark in brackets |
| column_types | the type of a column |
| watermarks | WATERMARK FOR … AS … |
"""
