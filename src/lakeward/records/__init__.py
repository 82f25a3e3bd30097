"""Batches, rows and keys, without files or sockets.

    texts/     what people write, in files and forms → Arrow
    arrow/     the client's side: rows in Arrow ↔ batches. Only this room and the one above it import pyarrow
    batch/     batches of a log, of a put, of a scan: headers, checks, projection, statistics
    key/       keys as bytes and back, key → bucket
    columnar/  many rows ↔ columns, for primary key tables
    ipc/       where things stand in an Arrow message, and whether they are what the schema says
    row/       one row at a time: what the bytes of each row format mean
    kernels/   compiled loops over whole batches. They load numba, and a server without primary key tables never does

A room imports only rooms below it.
"""
