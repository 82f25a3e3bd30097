"""Changes as JSON: what captures of databases write to a queue.

change_options   the rows of both formats
change_schema    the columns of changes: only the key must be there before a change
debezium_json    Debezium: before, after, op
canal_json       Canal: data, old, type; several rows a message
table_origin     which table changes are of, as messages say it
change_encoder   rows and what happened to them → messages of either
"""
