"""Rows in and out.

append     files → a log
upsert     files → rows by key
delete     keys → rows gone
lookup     keys → rows
tail       rows as they come
head       the first rows
changelog  changes of a table
dump       all rows
sql        SELECTs without Spark
sql_shell  … many of them, by hand
sql_serve  … behind ports, for psql, ADBC and others
plan       how a table would be read
skip       tiering and consumer groups go past rows that cannot be read
"""
