"""One row, one key, one value at a time: what the bytes mean.

row_codec      what the row formats share: a value written, a value read
slots          values in slots of eight bytes
varint         variable-length integers
compacted_row  rows packed tight: keys and stored values
indexed_row    rows with a null mask and lengths up front
aligned_row    rows in slots, as Paimon and Flink lay them out
binary_array   arrays and maps inside rows
"""
