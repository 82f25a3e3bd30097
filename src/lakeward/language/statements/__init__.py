"""Statements as values, one class for each kind.

| module | what it holds |
|---|---|
| statement | what every statement has, and names |
| create_table | CREATE TABLE: columns, key, watermark, distribution, options |
| table_definition | a table of a script, wherever its rows are |
| define | catalogs, databases, views; ALTER, DROP, SHOW, DESCRIBE, USE |
| rows | INSERT, statement sets, SELECT, UPDATE …, EXPLAIN, SET, STOP JOB, and what Spark understands by itself |
"""
