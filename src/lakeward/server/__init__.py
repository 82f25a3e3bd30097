"""The process that owns state: one port, both roles.

node             start, serve, stop: puts the parts together
caller           who asks, and by which address
http             GET /health, /metrics and /remote on the same port
lake_metrics     how far the lake is behind, for GET /metrics
disk_space       writes stop before the disk is full
relief           connections that hold on to memory which others need are closed
health           what /health answers, and what is counted of damaged logs
scrubber         cold segments read slowly, again and again, so that rot is found
housekeeping     what happens by the clock: checkpoints, retention, partitions, idle connections
metadata_store/  the cluster's durable memory
coordinator/     decides: databases, tables, partitions, options
tablet/          serves: logs
remote/          copies logs, state and metadata to remote storage, and answers what is there
restore/         an empty machine becomes the server again
"""
