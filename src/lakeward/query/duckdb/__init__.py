"""SQL without an engine of one's own.

sql             a SELECT over tables, by DuckDB
question        the same for people who are not trusted with this machine
sql_views       the tables of a SELECT, planned, as views
side_by_side    … several of them at once
sql_tree        what it wants of them
keyword_hint    what to say when a column has the name of a word of SQL
duck_session    DuckDB for one query
duckdb_views    a plan as a view of DuckDB
file_sql        … files of a lake in SQL
duck_types      … its columns in types that DuckDB has
read_ahead      what is hot, on its way before it is asked for
hot_tables      what a connection keeps of it between queries
hot_rows        … of one table, made and added to
gone_rows       … which rows of cold files are no more
bit_function    … and by what DuckDB is told of them
duck_tables     … tables of DuckDB that go when nobody holds them
"""
