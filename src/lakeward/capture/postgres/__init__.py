"""PostgreSQL: rows by COPY, changes by logical replication with `pgoutput` (docs/decisions/0033).

postgres_database  the Database of the port
postgres_settings  settings of options, names of slots
postgres_options   the options those are made of
server             connections, catalog, slot and publication, the replication stream
decode             bytes → cells → Arrow columns
read               chunks as of a position; changes between two
"""
