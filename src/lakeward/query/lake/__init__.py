"""The lake's half of a plan.

cold_part     the lake opened; which snapshot, which of its files
overtaken     OvertakenError: a newer plan has the rows
lake_cache    what plans remember of it
file_pruning  filters and the bounds of a file → whether it can match
"""
