"""Catalogs of scripts: where the definitions of tables are.

| module | what it holds |
|---|---|
| port | what a catalog is |
| catalogs | the catalogs of a script, and what CREATE CATALOG makes |
| catalog_options | the rows of each type of catalog |
| memory_catalog | definitions that last as long as the script |
| fluss_catalog | tables of a cluster |
| lake_catalog | tables of a lake, to be read |
| differences | how a definition differs from the table that is there |
| schema_properties | watermark, computed and metadata columns as properties of a table, and back |
"""
