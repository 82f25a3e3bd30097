"""`lakeward demo`: all of it at once.

demo          the command
home          its directory
orders        rows that keep coming
lake          a tiering service beside it
tally         rows counted, hot and cold
screen        what is shown
child_server  a server that lives as long as a command
child_console  a web console that does
child_catalog  an Iceberg REST catalog that does
child_bucket  an S3 server that does
child_postgres  a PostgreSQL that does
child_command   another command that does
cdc           `lakeward demo cdc`: a database that is followed
shop_database  orders in that database, and what becomes of them
"""
