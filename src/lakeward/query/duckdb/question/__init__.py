"""Questions of people who are not trusted with this machine.

bounded_sql     a SELECT, with bounds and a way to stop it
closed_rows     tables of ours, for questions about them
streamed_sql    … with rows that come a batch at a time
parameter_types what types the parameters of a statement have
sql_guard       what they may say
closed_session  DuckDB without files and network
question_error  what was wrong, and where in the text
batch_filter    rows of batches for which a condition is true
"""
