"""SQL without an engine of one's own.

sql             a SELECT over tables, by DuckDB
bounded_sql     the same for people who are not trusted with this machine, with bounds and a way to stop it
sql_guard       … what they may say
closed_session  … DuckDB without files and network
question_error  … what was wrong, and where in the text
batch_filter    rows of batches for which a condition is true
sql_views       the tables of a SELECT, planned, as views
sql_tree        what it wants of them
keyword_hint    what to say when a column has the name of a word of SQL
duck_session    DuckDB for one query
duckdb_views    a plan as a view of DuckDB
duck_types      … its columns in types that DuckDB has
read_ahead      what is hot, on its way before it is asked for
"""
