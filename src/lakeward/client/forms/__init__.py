"""What people hand in and get back.

settings      options as values
security      … those that say who a client is and whom it trusts
results       the small values that calls answer with
schema_forms  schemas as people write them
data_forms    rows as people hold them → Arrow
few_rows      … a few of plain values, the short way
new_columns   columns that a table gets while somebody works on it: followed, or told
damage        what a scan cannot read: an error that names it, or left out on purpose and noted
"""
