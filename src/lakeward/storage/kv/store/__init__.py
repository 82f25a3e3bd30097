"""The port of the engines, and what all of them share.

store          KvStore, KvView, AppliedBatch
slices         batches of keys and values: many byte strings in one buffer
snapshots      the state on disk with its log offset; the newest good one; the same for all engines
held_snapshot  a snapshot that stays while it is copied elsewhere
"""
