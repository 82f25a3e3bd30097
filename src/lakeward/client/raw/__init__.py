"""Logs copied batch by batch: each batch of one log becomes the same batch, at the same offsets, of another.

raw_scan     batches out of a log, as bytes
log_tail     where a log ends, and who wrote its last batch
parcels      what travels in one request: batches of a log table as they are, gaps where offsets have no rows
key_parcels  … of a changelog: its changes as upserts and deletes, which make the same changes again
raw_lane     parcels into one bucket: in order, each once, each at its offset
raw_writer   the lanes of one table
"""
