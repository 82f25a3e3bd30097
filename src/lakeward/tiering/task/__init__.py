"""One split read and written; all it needs travels with it.

task          the task
bundles       … small ones, put together
splits        what a task is to read
split_reader  a split → Arrow batches with system columns
dead_letters  rows that do not fit into the lake: put aside where the table asks for it, else an error
"""
