"""What happens by the clock, and what keeps a server alive.

housekeeping  checkpoints, retention, partitions, idle connections
disk_space    writes stop before the disk is full
write_stop    reasons why nothing may be written now
relief        connections that hold on to memory which others need are closed
"""
