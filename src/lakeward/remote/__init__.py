"""Files on another machine: closed log segments and snapshots, in a directory or in S3.

    open_store  open_store(url, settings): the store of a URL; check_store: may we read and write there
    s3/         S3 and what speaks like it
    stores/     the port, and a directory
    formats/    what lies where, and the documents that say so

Stores import obstore; the rest is light. Nothing here knows tables.
"""
