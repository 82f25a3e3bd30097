"""What tables are, and what statements make of them.

tables          tables as INFORMATION_SCHEMA tells them, in our types
wire_types      TABLE_MAPs against what is known of a table
ddl_tokens      words of statements
ddl             statements that change tables
evolution       Evolution: known tables after a statement
"""
