"""Keys as bytes and back.

key_encoding  one key → bytes, as each lake and Apache Fluss want it
key_decoding  and back
key_rows      the keys of many rows
bucketing     key → bucket, ours and each lake's
"""
