"""The blocking door: facades over the asyncio core.

sync          Connection
sync_table    Table
sync_writers  Writer, Upserter
sync_scan     Scan
groups        how far consumer groups got, kept in a table of the cluster
"""
