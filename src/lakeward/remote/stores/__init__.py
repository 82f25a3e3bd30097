"""The port, and a directory behind it.

store            RemoteStore: the port; StoredObject
directory_store  a directory of this machine, or one that is mounted
whole_files      whole files or none: written beside, synced, renamed
pace             Pace: at most this many bytes a second, over all copies
retry            a call made again while it fails in a way that may pass
"""
