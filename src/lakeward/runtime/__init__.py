"""Doors to the world: all that is not deterministic enters here.

clock     Clock: the system's, or one moved by hand
trusted_clock  a clock that does not follow jumps at once
backoff   how long to rest between attempts
entropy   ids and randomness, from the system or from a seed
files     Files: what the server keeps, wherever that is
local_files    … on a disk
memory_files, memory_nodes  … in memory, with a model of what a crash leaves
whole_file     the one way to write a file that must last
metrics   counters, gauges and histograms, as text for Prometheus
private_files  what only the owner may read, and what others may
descriptors   as many open files as the system allows
settled_heap   what the garbage collector need not look at again
seldom    warnings that are said once in a while
process_lock   a lock that goes with its process
child, warden  programs that end with the process that started them, however that ends
"""
