"""Rows of a table looked up by key for every row of a DataFrame.

lookups       lookup_join
lookup_task   … in a task
lookup_cache  rows that were looked up before
"""
