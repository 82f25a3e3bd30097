"""Where metadata lives: small, durable, changed in transactions.

port           MetadataStore, Change, and the records they keep
sqlite_store   … in one SQLite file, metadata.db in the data directory
memory_store   … in dicts, for tests

The coordinator's catalog is the only reader; it loads everything at start and writes through.
"""
