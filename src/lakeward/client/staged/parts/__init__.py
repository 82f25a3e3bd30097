"""What tasks and driver know of each other.

part              finished batches without a sender's name: what a task hands to the driver
manifest          what a commit will append, where, under which writer id and sequences. Written first, never changed
open_directory    a path or URI → one of the next two
directory         a local directory; files that are created once
remote_directory  the same on any file system of pyarrow.fs
table_access      the parts of a connection that staged writes work with
"""
