"""How a table of ours looks in Iceberg.

format_version  which versions of Iceberg's table format are read and written
types           column types → Iceberg types, Arrow rows → the rows of a data file
described_table any Iceberg table as if it were ours
layout          how a table is partitioned, and the partition of a place
places          … and the other way round: the place that a partition stands for
"""
