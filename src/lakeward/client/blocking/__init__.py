"""The blocking door: facades over the asyncio core.

sync          Connection
sync_table    Table
sync_writers  Writer, Upserter
sync_scan     Scan
loading       what is loaded as a whole, whatever Ctrl-C does
groups        how far consumer groups got, kept in a table of the cluster
"""
