"""Lists of files, and the snapshots that name them.

manifests        lists of files: read, written, merged
manifest_layout  the Avro layout of those lists
snapshots        snapshot-N: read, and created by exactly one writer
snapshot_forms   a snapshot → what the port says of it
commit           one snapshot on top of the newest, tried again on a lost race
expiry           old snapshots and what only they need; files that nobody knows
"""
