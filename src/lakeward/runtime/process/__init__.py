"""This process and those that it starts.

child         programs that end with the process that started them, however that ends
warden        … what ends them after kill -9
process_lock  a lock that goes with its process
process_mark  a process, known again
usage         memory, CPU and files that this process takes
descriptors   as many open files as the system allows
supervisor    what systemd is told
settled_heap  what the garbage collector need not look at again
"""
