"""What exists, and where it is.

admin       databases, tables, cluster options
partitions  listed, created, dropped, made to exist before a write
offsets     where each bucket's log begins and ends, and what offset a time stands for
acls        rights given out, shown and taken back
lake        snapshots of the lake; what a tiering service reports
"""
