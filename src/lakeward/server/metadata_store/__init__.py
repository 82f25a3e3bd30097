"""Where metadata lives: small, durable, changed in transactions.

port           MetadataStore, Change, and the records they keep
sqlite_store   … in SQLite, in memory, with files in the data directory
sqlite_change  … the statements of a transaction, noted
files          which files there are, twice, and the newest state they prove
image          the whole of it, sealed with a checksum
journal        the changes since, line by line
opening        files → database; refuses what is not whole
memory_store   … in dicts, for tests

The coordinator's catalog is the only reader; it loads everything at start and writes through.
"""
