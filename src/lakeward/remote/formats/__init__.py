"""What lies where, and the documents that say so.

layout             where each thing lies
log_manifest       which segments of a bucket are remote
snapshot_metadata  which files make a snapshot
"""
