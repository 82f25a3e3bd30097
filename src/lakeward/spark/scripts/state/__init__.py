"""What a script knows, and what its statements leave.

| module | what it holds |
|---|---|
| script_tables | what the names of a script stand for |
| script_settings | what SET can say |
| outcome | what became of a statement |
| live_rows | the rows of a streaming SELECT as they are now |
| top_rows | ORDER BY and LIMIT of it |
| spark_place | errors of Spark as errors of the script |
"""
