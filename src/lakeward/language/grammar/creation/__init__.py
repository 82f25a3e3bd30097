"""CREATE: catalogs, databases and views; tables have a room of their own.

| module | what it reads |
|---|---|
| create | CREATE and what follows it |
| create_catalog | CREATE CATALOG |
| create_database | CREATE DATABASE |
| create_view | CREATE VIEW |
"""
