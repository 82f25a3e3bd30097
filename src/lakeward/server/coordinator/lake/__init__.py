"""The lake as the coordinator sees it: whose turn it is to be tiered.

    tiering_states   the states of a table on its way into the lake, and what leads from one to the next. Pure
    tiering_machine  … of all tables: timers, the queue, epochs, heartbeats. Pure, time is passed in
    tiering          … applied to the catalog: tables come, change and go; what outlives a restart

Bytes never pass through here: a tiering service outside copies rows and writes the lake. The coordinator gives it a
table when its freshness is used up, and remembers what it reports.
"""
