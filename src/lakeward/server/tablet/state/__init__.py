"""States by key, who works on them, and what is done to logs and states by the clock.

states          the states that are open; one is opened when it is first touched, beside the loop if it is large
kv_tables       … what they must know of their tables
busy            buckets whose state is worked on by a thread, and who waits for them
tablet_chores   checkpoints, retention, compaction, snapshots
chore_failures  … of which one fails for one bucket
"""
