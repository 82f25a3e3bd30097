"""Arrow Flight SQL: pyarrow's server, our own messages.

flight_server  the calls, and what they come to
logins         name and password once, then a token
sql_info       what the server says of itself
metadata_rows  catalogs, tables, types and keys as rows
parameters     values of prepared statements
protobuf       the messages' bytes
"""
