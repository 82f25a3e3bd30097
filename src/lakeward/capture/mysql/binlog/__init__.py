"""The binlog: what the server sends to its replicas.

dump            BinlogDump: events from one place to another
events          kinds of events, and those that are read one at a time
event_kernels   heads and rows of events, cut in loops
table_map       TableMap: what the server says of the rows after it
"""
