"""Postgres's protocol, version 3, by hand.

listener           a port, its sessions, and cancel requests
startup            how a client comes in
session            one client, message by message
statements         what each kind of statement comes to
cursors            answers with a name in SQL
copying            COPY, and the forms of its rows
session_words      words that stand for the session
inner_names        what columns of inner questions are called, and those that a value makes
listings           SHOW TABLES and SHOW DATABASES
portal             rows on their way to a client
variables          SET and SHOW
time_zones         which zones there are, and times in them
parameters         values as literals
states             errors in five letters
wire               the two directions of a connection
pg_catalog         what tools ask a Postgres about itself
codec              bytes of messages, rows and values
"""
