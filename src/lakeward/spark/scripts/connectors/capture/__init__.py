"""The connectors `mysql-cdc` and `postgres-cdc`: tables of databases, and every change of them.

| module | what it holds |
|---|---|
| capture_connector | the connectors |
| capture_table | a table of a script that is captured: its columns against the database's, its frames |
"""
