"""CSV: a message is a line, its fields are the columns in order.

csv_options     its rows
csv_kernels     lines cut into their fields
csv_decoder     messages → rows
csv_encoder     rows → messages
"""
