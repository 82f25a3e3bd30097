"""Where files are.

s3_path         lake_path: a Path, or a place in a bucket that is used like one
whole_files     files that appear whole or not at all, on a disk and in a bucket
blocking_store  remote storage for code that waits
s3_properties   how a bucket is reached, by everybody's names
"""
