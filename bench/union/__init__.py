"""Hot and cold as one table: `python -m bench.union`.

__main__  options; prints, and writes docs/benchmarks-union.md
work      union reads beside plain reads of the same files
planning  a table of many partitions, and how long a plan of it takes
spark     a union read in Spark beside Spark's own reading of the cold files
"""
