"""The log of one bucket.

    log_tablet     append, read, find, retain: the log as a whole
    replica_log    … one of several copies: batches come stamped, the end may be taken back
    readable_log   the log as readers see it: every batch checked, damage is an error
    isolation      a segment in use that turns out to be damaged: what of it is whole
    recovery       what is on disk → a log that can be appended to
    power_cut      what had not been synced ends before its first hole
    writer_state   idempotence: the last batches of each writer
    checkpoint     "below this offset all is on disk, and this is what the writers had done"
    log_facts      what is remembered beside the log even when its files have gone
    retention      pure: which segments may go
    held_segment   a closed segment that stays as it is while it is copied elsewhere
    verification   a log judged without opening it
    repair         a damaged range given up for ever
    settings       the numbers all of these obey
    segment/       one file of batches, its indexes, its damage

A batch is bytes here: it is checked, stamped with offset and time, written, and sent as it is.
"""
