"""What exists: databases, tables, partitions, consumer groups, offsets.

databases  list, create, drop
tables     list, describe, create, alter, drop
advise     … what to change about them
compact    … fewer, larger files in the lake
copy       … from one cluster to another
partitions list, create, drop
offsets    where each bucket's log begins and ends
groups     how far consumers got
"""
