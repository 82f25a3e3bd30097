"""What is remote of each bucket, and questions whose answer is there.

remote_logs     a pointer in the metadata store, and the manifest it names
remote_indexes  indexes of remote segments, in memory as far as there is room
remote_reads    fetches, offsets by time, last rows
"""
