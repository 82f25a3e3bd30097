"""Bytes on one machine.

verify       everything read and judged
stored_logs  every bucket, found by its files alone
kv/          the key/value state of one bucket
log/         the log of one bucket
disk/        the data directory and its files
"""
