"""Bytes on one machine.

directories   the data directory: its lock, where each bucket's files are
open_files    a bounded set of open files and their maps
atomic_file   small files replaced atomically
log/          the log of one bucket
kv/           the key/value state of one bucket
"""
