"""What is on its way to the store.

log_copies       closed segments: which bucket is due, how many at a time, what when the store fails
segment_upload   one closed segment → four files of the store
log_expiry       pure: which remote segments are too old or too much
remote_garbage   files that nothing names any more: what was replaced, expired, dropped, left by crashes
log_status       numbers for people and for Prometheus
snapshot_copies  snapshots of state
snapshot_files   one bucket's files there, shared and swept
snapshot_returns a snapshot that comes back, for a state whose log does not reach back far enough
metadata_backup  the metadata, at most a second behind
"""
