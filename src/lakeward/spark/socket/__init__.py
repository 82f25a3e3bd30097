"""What travels between a JVM and its bridge.

frames  JSON and Arrow, in frames
call    one call of the JVM: its arguments, its table, its rows
"""
