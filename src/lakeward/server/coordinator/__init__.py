"""The coordinator: what may be done to what exists.

    coordinator  Coordinator: the parts below put together; timers
    handlers/    one function per control API
    tables/      databases, tables and partitions: created, altered, dropped, judged
    lake/        tiering: whose turn it is

Requests come in through handlers, are judged by tables/*_admin, and end in `server.catalog`, the only writer of the
metadata store's tables.
"""
