"""Databases, tables and partitions: created, altered, dropped, judged.

database_admin    create, alter, drop databases
table_admin       create, alter, drop tables
table_defaults    … what is filled in where a table says nothing
table_rules       … what a table must be
merge_rules       … what its merge engine asks for
aggregate_rules   … what its aggregate functions ask for
partition_rules   … what its partitions ask for
table_changes     … what a change makes of it
alteration        a change of options, one by one
partition_admin   create, drop, list partitions
auto_partition    the calendar, pure
auto_partitioner  … applied to the catalog
time_format       the time in a partition's name
cluster_config    options in force, changed while running
"""
