"""What is shown.

plain_text         what may reach a terminal
text_table         columns of text
listing            listings and records, as tables or one JSON document
row_output         rows as a table, CSV or JSON lines, while they come
pipe_reader        … until nobody reads them any more
log_ends           the first and the last rows of a table
table_description  what `tables describe` shows
append_progress    the bar of a long append
read_progress      the line of a long read
copy_progress      the line of a long copy
"""
