"""Rows → files.

data_writer     rows → Parquet files, rolled by size
unnamed_bounds  … columns of which a manifest tells no bounds
merge_writer    changes by key → data files and position deletes
delete_file     … a file of those
"""
