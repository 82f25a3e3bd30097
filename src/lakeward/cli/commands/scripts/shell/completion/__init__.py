"""Completion: what could follow what was typed.

words         keywords, commands of the shell, and what is said to who asks for help
position      the statement around the cursor, in tokens
named_tables  the tables that a statement speaks of, by alias
candidates    … what fits there
known_names   … of the names that the script knows
completer     … as the prompt wants it
"""
