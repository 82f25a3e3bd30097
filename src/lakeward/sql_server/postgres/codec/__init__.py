"""Bytes of the protocol, without sockets.

messages       what a server says, and how what a client says is cut up
row_bytes      rows as messages, a batch at a time
values_text    … as text
values_binary  … in binary
pg_types       numbers of types
sql_text       SQL as tokens
"""
