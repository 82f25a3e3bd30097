"""Rows → files.

writing         what a task is told, and what it tells
append_writer   rows of a log table → data files
key_writer      changes of a primary key table → sorted files and their changelog
parquet_files   rows → Parquet files, rolled by size, each with its entry for a manifest
value_bounds    least and greatest values of a file's columns
compaction      which sorted files of a place are merged into one, and how
log_compaction  small files of a log table → fewer, larger ones
full_compaction as few files as there can be, by hand
"""
