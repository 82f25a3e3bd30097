"""Calls of the catalog.

catalog_calls  databases, tables, partitions
replace_calls  tables that are made with their rows
replacing      a table built beside another, which then takes its place; renaming by a copy
lake_tables    what the lake knows of a table, as tables: snapshots, history, files
"""
