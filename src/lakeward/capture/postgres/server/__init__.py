"""What the server is asked and told.

server_settings  which server, as whom, which tables
connections   ordinary connections and such that replicate
failures      what the server refuses, as sentences
catalog       tables, columns and keys
native_types  types of PostgreSQL → our types
slot          the slot and the publication of a stream
replication   messages of the log, in bulk
"""
