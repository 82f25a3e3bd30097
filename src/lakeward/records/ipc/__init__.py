"""Arrow messages as bytes, without Arrow: the server checks and cuts them, and never imports pyarrow.

arrow_message    where rows, nodes and buffers stand in a message
arrow_structure  every length and place in a message against its schema, checked before it is appended
known_messages   … once for messages that say the same
arrow_contents   every value too; loads numpy
buffer_codecs    compressed buffers
null_columns     columns that a batch does not have yet, as NULLs
"""
