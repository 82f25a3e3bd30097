"""Facts are gathered here, each within its time; what fails or takes too long is missing, and it is said why.

look         Look: parts asked for side by side, within one time
cluster      what a cluster tells a client: pages, options, tables, tiering, lakes, groups
tables       tables, one after the other until time is up
port         who listens at an address, and whether servers can be reached
"""
