"""Facts are gathered here, each within its time; what fails or takes too long is missing, and it is said why.

look         Look: parts asked for side by side, within one time
cluster      what a cluster tells a client: pages, options, tables, tiering, lakes, groups
tables       tables, one after the other until time is up
lakes        whether lakes can be opened
machine      Python, libraries, memory, the server's process
place        where the server keeps its data on this machine: the two above and below
directory    the data directory and its disk
passwords    whether a password is one that everybody tries
port         who listens at an address, and whether servers can be reached
"""
