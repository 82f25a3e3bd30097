"""Files, wherever they are.

port           Files: what the server keeps
local_files    … on a disk
memory_files   … in memory, with a model of what a crash leaves
memory_nodes   … the files and directories of that
whole_file     the one way to write a file that must last
private_files  what only the owner may read, and what others may
"""
