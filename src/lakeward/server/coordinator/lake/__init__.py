"""The lake as the coordinator sees it: whose turn it is to be tiered, and how far the lake is.

    tiering_states     the states of a table on its way into the lake, and what leads from one to the next. Pure
    tiering_machine    … of all tables: timers, the queue, epochs, heartbeats. Pure, time is passed in
    tiering            … applied to the catalog: tables come, change and go; what outlives a restart
    bucket_offsets     the document of offsets that a lake snapshot holds ↔ JSON
    offsets_files      … in files, written so that a crash leaves all of one or none
    snapshots          which snapshots the lake has, by table, in the metadata store
    settings           what the cluster's options say of the lake, and what clients are told of it

Bytes never pass through here: a tiering service outside copies rows and writes the lake. The coordinator gives it a
table when its freshness is used up, and remembers what it reports.
"""
