"""Serves: the logs of this server and the requests that touch them.

tablets    which buckets are here; opens their logs when they are first touched
produce    PRODUCE_LOG: check, judge, append, answer; batches that came too early wait
fetch      FETCH_LOG: read, select, answer or wait
selection  which batches and columns of them a fetch gets (filters: the predicate it came with)
waiting    fetches that wait for rows, woken by the append
scans      LIST_OFFSETS, LIMIT_SCAN, GET_TABLE_STATS
not_yet    primary key tables, refused in the way clients understand
service    one handler per API
"""
