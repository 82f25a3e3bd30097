"""A stream: initial → latest → plan → read_split …

stream         TableStream; stateless, everything it knows is in the offsets
stream_offset  StreamOffset: what was read, bucket by bucket
stream_batch   what lies between two offsets; pure
stream_lake    the lake's half: where a stream of everything begins, and what it reads there
admission      how much the next batch may read, shared fairly by the buckets
table_now      what of a table a stream sees at one moment
progress       how far behind a stream is
"""
