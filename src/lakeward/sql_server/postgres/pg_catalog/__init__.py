"""What tools ask a Postgres about itself.

catalogs  questions about the catalog, answered
rewrite   their text, in words that DuckDB has
answers   the rows that come of it, in types of Postgres
tables    pg_catalog and information_schema as rows
macros    functions of Postgres, and what stays empty
"""
