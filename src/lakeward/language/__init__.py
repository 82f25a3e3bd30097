"""The language of scripts: SQL with WITH (…), watermarks, windows and lookup joins, as values; no Spark here.

| room | what it holds |
|---|---|
| grammar | text → statements: a dialect of sqlglot, one file for each kind of statement |
| statements | the statements as values |
| functions | functions, types and literals that differ from Spark's: a row each |
| plan | what a query means on a stream: changes, keys, weights, windows; a tree → Spark SQL |
| changes | what the rows of a stream are: added, changed, changed by key |
| place | where in a script something stands, and what is wrong there |
"""
