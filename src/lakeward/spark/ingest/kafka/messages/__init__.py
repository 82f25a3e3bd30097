"""Messages ↔ rows.

table_shape     which column comes from where in a message
message_rows    messages → batches
message_columns … what Kafka knows of them
bad_messages    messages that cannot be read
records         rows → keys and values of messages
"""
