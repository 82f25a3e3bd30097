"""Moves what the log has and the lake lacks. Engine-free: `spark` places these parts on driver and executors.

assembly  a service put together
settings  … from what it is told
service   heartbeats: takes tables, runs their rounds side by side, reports
watch/    told by the service what happens: log lines, a table of status, metrics, housekeeping
round/    one table's round on the driver
task/     one split read and written
"""
