"""Values that still lie in their messages, and the columns that are made of them: what formats of text share.

values          Values: where each value lies and what it looks like
messages        messages in one buffer, those that are not UTF-8 found
faults          Faults: which messages are bad, and why
leaf_columns    values of one kind → a column
text_kernels    texts gathered, escapes and base64 undone
number_kernels  whole numbers, and what a real number may look like
decimal_kernels decimals
time_kernels    dates, times of day, moments
"""
