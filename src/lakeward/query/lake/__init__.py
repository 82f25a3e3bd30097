"""The lake's half of a plan.

cold          the lake opened; which snapshot, which of its files
lake_cache    what plans remember of it
file_pruning  filters and the bounds of a file → whether it can match
"""
