"""Capture: the rows and the changes of databases, as Arrow. Nothing here knows Spark or where rows go.

port            Database: what every kind of database offers; SourceTable, Chunk, TableRows, SchemaChange
stream          CaptureStream: a database followed step by step, from one progress to the next
progress        how far a stream is: which tables are copied, as of where; what lies between two points
databases       the kinds of databases there are, and how one is opened from options
stream_options  options that every kind has
name_pattern    which tables are captured
patience        a database that may be away for a while
fitting         whether declared columns can hold what the database has
envelope        events of many tables ↔ rows of one shape
json_forms      tables and schema changes ↔ JSON
mysql           MySQL and MariaDB, by the binlog
postgres        PostgreSQL, by logical replication
"""
