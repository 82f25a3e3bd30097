"""Calls of scans.

read_calls    a bounded read
stream_calls  a stream
"""
