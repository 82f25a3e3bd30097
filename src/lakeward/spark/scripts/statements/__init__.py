"""What each kind of statement does.

| module | what it holds |
|---|---|
| define_tables | CREATE, ALTER and DROP of catalogs, databases and tables, DROP VIEW; USE |
| define_views | CREATE and ALTER VIEW |
| tell | SHOW |
| describe | DESCRIBE |
| jobs_here | SHOW JOBS and STOP JOB |
| insert | INSERT, statement sets, CREATE TABLE … AS SELECT |
| select | SELECT, bounded and live; EXPLAIN |
| change_rows | UPDATE, DELETE, MERGE, TRUNCATE, and what is Spark's own |
| context | what statements share |
"""
