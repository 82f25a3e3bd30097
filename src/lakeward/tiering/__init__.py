"""Moves what the log has and the lake lacks. Engine-free: `spark` places these parts on driver and executors.

Driver
    service            heartbeats: takes tables, runs their rounds side by side, reports
    held_rounds        which rounds it holds, in a file: after a crash they are given back at once
    round              one table's round: what to read, tasks, one lake commit, the report; repairs what a crash left
    split_generator    lake offsets, log offsets → splits; a pure function
    damaged_buckets    buckets that stop at damage while the others go on; ranges passed over by intent
    catalogs           which lake catalog a table belongs to
    runner             the port of whatever runs tasks; threads of this process, if no engine does
    settings, assembly what a service is told, and a service put together from it

Task
    task               one split read and written; all it needs travels with it
    split_reader       a split → Arrow batches with system columns
    dead_letters       rows that do not fit into the lake: put aside where the table asks for it, else an error

Watchers, told by the service what happens
    watchers           the port; one line for each thing in the log
    status_table       … in a table of the cluster, for `lakeward tier status`
    service_metrics    … counted, for Prometheus
    housekeeper        compaction and expiry after some rounds, in the background
    lag                how far the lake is behind, in rows and seconds
"""
