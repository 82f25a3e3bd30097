"""Bytes on one machine.

directories   the data directory: its lock, where each bucket's files are
open_files    a bounded set of open files
atomic_file   small files replaced atomically
stored_logs   every bucket, found by its files alone
verify        everything read and judged
log/          the log of one bucket
kv/           the key/value state of one bucket
"""
