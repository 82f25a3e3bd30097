"""The data directory and its files.

directories  its lock, where each bucket's files are
open_files   a bounded set of open files
"""
