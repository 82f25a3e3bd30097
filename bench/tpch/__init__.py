"""TPC-H over hot and cold beside the same engine on Parquet: `python -m bench.tpch`.

__main__  options; prints each query
data      the tables, loaded once and kept
sides     the engines that answer
"""
