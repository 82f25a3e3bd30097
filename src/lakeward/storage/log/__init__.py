"""The log of one bucket.

    log_tablet     append, read, find, retain: the log as a whole
    segment        one file of batches and its two indexes
    log_index      offset → position, time → offset: sparse, rebuilt when damaged
    writer_state   idempotence: the last batches of each writer
    checkpoint     "below this offset all is on disk, and this is what the writers had done"
    recovery       what is on disk → a log that can be appended to
    readable_log   the log as readers see it: every batch checked, damage is an error
    damage         offsets that cannot be read, why, and what to do
    batch_check    are these the batches that were written? The one place that decides
    segment_walk   a file read from end to end: what is good, what is not; for any thread
    isolation      a segment in use that turns out to be damaged: what of it is whole
    log_facts      what is remembered beside the log even when its files have gone
    verification, repair
                   a log judged without opening it; a damaged range given up for ever
    retention      pure: which segments may go
    held_segment   a closed segment that stays as it is while it is copied elsewhere
    settings       the numbers all of these obey

A batch is bytes here: it is checked, stamped with offset and time, written, and sent as it is.
"""
