"""Bytes → cells → Arrow columns.

message_kernels  messages of the replication stream: kinds, transactions, cells of rows
cell_kernels     lines of COPY → cells; cells → columns, keys, bytes, items of arrays
cells            text where it lies, by column and row
columns          text → values of our types
odd_dates        dates that few programs can read
messages         relations and truncations; what we tell the server
"""
