"""The engine for state larger than memory.

rocksdb_store  the store
rocksdb_view   its state at one moment
"""
