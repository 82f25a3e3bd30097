"""This process and those that it starts.

child         programs that end with the process that started them, however that ends
warden        … what ends them after kill -9
held_signals  Ctrl-C waits while something is half done
process_lock  a lock that goes with its process
process_mark  a process, known again
memory_limit  how much memory this process may have
usage         memory, CPU and files that this process takes
descriptors   as many open files as the system allows
supervisor    what systemd is told
public_port   a port that people come to, and who may not be let in by it
no_pandas     pyarrow without pandas, where nobody wants a DataFrame
settled_heap  what the garbage collector need not look at again
"""
