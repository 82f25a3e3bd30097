"""Files on another machine: closed log segments and snapshots, in a directory or in S3.

store             RemoteStore: the port; StoredObject
open_store        open_store(url, settings): the store of a URL; check_store: is it there, may we write
directory_store   a directory of this machine, or one that is mounted
s3_store          S3 and what speaks like it, by obstore
s3_settings       the property names people know → S3Settings
pace              Pace: at most so many bytes a second, over all copies
"""
