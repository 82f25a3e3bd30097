"""In the tasks: rows → encode → part.

writer        StagedWriter: rows in, one part out
stages        rows → finished batches, for logs and for changes by key
ordered_work  encoding on threads, results in order
change_types  a column that says what each row is: put, deleted, or of no interest
"""
