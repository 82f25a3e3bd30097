"""The log of one bucket.

    log_tablet     append, read, find, retain: the log as a whole
    segment        one file of batches and its two indexes
    log_index      offset → position, time → offset: sparse, rebuilt when damaged
    writer_state   idempotence: the last batches of each writer
    checkpoint     "below this offset all is on disk, and this is what the writers had done"
    recovery       what is on disk → a log that can be appended to
    retention      pure: which segments may go
    held_segment   a closed segment that stays as it is while it is copied elsewhere
    settings       the numbers all of these obey

A batch is bytes here: it is checked, stamped with offset and time, written, and sent as it is.
"""
