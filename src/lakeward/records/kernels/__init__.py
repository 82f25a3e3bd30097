"""Compiled loops over whole batches, and what they are told.

kernel              how a loop is compiled, once for all of them
memory_kernels      loads, stores and copies by address
varint_kernels      variable-length integers
float_kernels       bits as floating-point numbers
spans               bytes where they lie, in one buffer or several
record_kernels      records of a batch: cut, measured, put together
row_programs        what the loops below are told of each column
row_decode_kernels  rows → columns
row_encode_kernels  columns → rows
key_columns         the columns of a key, as the loops take them
key_kernels         columns → keys, and their hashes
key_check_kernels   keys of a put against its rows and its bucket
"""
