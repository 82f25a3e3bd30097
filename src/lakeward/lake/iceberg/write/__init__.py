"""Rows → files.

data_writer      rows → Parquet files, rolled by size
file_statistics  … what a manifest says of them
merge_writer     changes by key → data files and position deletes
delete_file      … a file of those
"""
