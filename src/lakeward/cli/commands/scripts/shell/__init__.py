"""The shell: statements by hand.

shell           the command
shell_loop      asks, runs, tells, and asks again
prompt_line     the line that a person types: keys, several lines, completion, colours
history         what was typed before, in a private file
highlight       colours of words, texts and comments
statement_work  one statement on a thread of its own, which Ctrl-C ends
interrupts      Ctrl-C, counted
keys            keys that are pressed while something runs
answer          what a statement gave, on the screen
live_view       … if it goes on changing
completion      what could follow what was typed
"""
