"""The asyncio core.

connection  AsyncConnection: opens, hands out tables, closes everything it opened; QueryEngine, its SQL
glance      Glance: tables and the ends of their logs, asked at once
table       AsyncTable: the factory of writers and scans
keyed_rows  what a table with a primary key can do besides
"""
