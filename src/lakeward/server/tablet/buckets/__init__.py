"""Which buckets are here, their logs and states, and who may touch them.

tablets       which buckets are here; opens their logs when they are first touched
log_opening   what a log is told when it is opened, and what it tells
log_settings  a table's options as its logs take them
busy          buckets whose state is worked on by a thread, and who waits for them
parked        a request that is kept
pending       a write request whose buckets are done one after the other
tried_again   chores that fail for one bucket
too_large     refusals of what asks for too much
"""
