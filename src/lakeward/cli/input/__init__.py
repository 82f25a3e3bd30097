"""What people write, and what they are told when it is wrong.

session       which server; `--server` and `--debug`
parameters    what people write → names, pairs, places in a log; completion from the server
command_tree  how commands are found without loading all of them
near_names    what was meant by a name
failures      exceptions → one sentence and an exit code, in one place
lake_read     options of commands that read the lake too
row_filter    rows for which a condition is true
"""
