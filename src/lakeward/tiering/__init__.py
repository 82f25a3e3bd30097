"""Moves what the log has and the lake lacks. Engine-free: `spark` places these parts on driver and executors.

Driver
    service            heartbeats: takes tables, runs their rounds side by side, reports
    round              one table's round: what to read, tasks, one lake commit, the report; repairs what a crash left
    split_generator    lake offsets, log offsets → splits; a pure function
    catalogs           which lake catalog a table belongs to
    watchers           who is told what happens
    runner             the port of whatever runs tasks; threads of this process, if no engine does

Task
    task               one split read and written; all it needs travels with it
    split_reader       a split → Arrow batches with system columns
"""
