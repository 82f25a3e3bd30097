"""The asyncio core.

connection  AsyncConnection: opens, hands out tables, closes everything it opened; QueryEngine, its SQL
table       AsyncTable: the factory of writers and scans
keyed_rows  what a table with a primary key can do besides
"""
