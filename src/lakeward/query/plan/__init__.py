"""From a request to splits.

planner    plan_read: one snapshot of the lake, one set of end offsets
plan       what is read, in one line for EXPLAIN
splits     the unit of work: a stretch of a bucket's log, a bucket's state, files of the lake, or both
union      which tier each part of a table is read from; pure
by_time    a log table as of a time that only the lake's rows remember; pure
log_bytes  what to expect of the log, for those who explain a plan
replan     again, while the table moves on under a plan
"""
