"""Raw: a message is the value of the only column.

raw_options     its rows
raw_codec       messages ↔ rows
"""
