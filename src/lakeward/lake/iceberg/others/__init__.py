"""Tables of the lake that no cluster tiers into: other people's, whom we keep a catalog for.

other_tables   OtherTables: namespaces and tables of a lake, looked at and removed
other_changes  OtherChanges: tables are created and changed, as Iceberg's REST protocol says it
last_added     what "the last one added" of a request is, by its number
other_errors   what pyiceberg says of it, in few words
"""
