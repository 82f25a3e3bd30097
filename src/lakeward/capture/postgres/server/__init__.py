"""What the server is asked and told.

server_settings  which server, as whom, which tables
connections   ordinary connections and such that replicate
failures      what the server refuses, as sentences
catalog       tables, columns and keys
native_types  types of PostgreSQL → our types
slot          the slot and the publication of a stream
rights        what a user must be allowed to do, asked without doing it
replication   messages of the log, in bulk
"""
