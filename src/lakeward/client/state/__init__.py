"""The rows of a primary key table as they are now, or were.

state          the rows as they are now
fold           a changelog folded by key
rollback       changes taken back: the rows as they were at an offset
value_scans    values of a bucket without asking for keys
value_decoder  stored values → Arrow, whatever schema they were written under
limit_scan     a few rows, the quick way
first_records  a few records of one bucket, as its server has them at hand
"""
