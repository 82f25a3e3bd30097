"""SQL without an engine of one's own.

sql           a SELECT over tables, by DuckDB
sql_tree      what it wants of them
keyword_hint  what to say when a column has the name of a word of SQL
duck_session  DuckDB for one query
duckdb_views  a plan as a view of DuckDB
duck_types    … its columns in types that DuckDB has
read_ahead    what is hot, on its way before it is asked for
"""
