"""The server's side of remote storage.

    opening          the store of `remote.data.dir`, checked when the server starts
    tokens           what clients need to read remote files themselves; s3_tokens: temporary keys
    remote_logs      what is remote of each bucket: a pointer in the metadata store, and the manifest it names
    segment_upload   one closed segment → four files of the store
    log_copies       closed segments on their way: which bucket is due, how many at a time, what when the store fails
    log_expiry       pure: which remote segments are too old or too much
    remote_garbage   files that nothing names any more: what was replaced, expired, dropped, left by crashes
    copy_trouble     the store fails: said once, tried again less and less often, said once when it works again
    remote_indexes   indexes of remote segments, in memory as far as there is room
    remote_reads     questions whose answer is remote: fetches, offsets by time, last rows
    log_status       numbers for people and for Prometheus
    log_service      all of these put together, for the node

    ownership        one server at a time writes to a remote directory; watch: looks again and again; fenced_store
    metadata_backup  the metadata, at most a second behind
    snapshot_copies  snapshots of state on their way; snapshot_files: one bucket's files there, shared and swept
    state_service    all of these put together, for the node

Nothing here waits for the store on the event loop, and nothing happens when `remote.data.dir` is not set.
"""
