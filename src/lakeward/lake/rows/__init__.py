"""Rows on their way into data files, and back.

system_columns        __bucket, __offset, __timestamp
storable              tables that no data file can hold
conformed_rows        rows in the columns and types of a data file
last_changes          many changes → the last one of each key
key_numbers           … keys as numbers of 64 bits
parquet_dictionaries  columns that are worth a dictionary
parquet_codecs        columns that are worth zstd
parquet_rows          the live rows of a file
"""
