"""The Spark connector: `python -m bench.spark`.

__main__   options; prints, and writes docs/benchmarks-spark.md
work       Spark on our tables, beside the same work on Parquet files
streaming  bytes of a stream of two columns in ten
"""
