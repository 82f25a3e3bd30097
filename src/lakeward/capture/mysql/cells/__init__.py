"""Values of columns, from the bytes of the server to Arrow: the same from an answer and from the binlog.

native_type       NativeType: a type in the server's words, and ours for it
cells             Cells: stretches of bytes, and Arrow arrays made of them
cell_kernels      bytes of cells brought together
calendar_kernels  days of the calendar
answer_kernels    numbers and times as they stand in answers
answer_columns    columns of an answer
binlog_kernels    numbers and times as they stand in the binlog
binlog_columns    columns of row events
temporal          dates and times as Arrow; zero dates, times of no day
charsets          texts of any character set
packed_decimal    decimals of any length
json_binary       MySQL's form of JSON
"""
