"""Rows out:  scan → log_fetcher → batch_cutter → decode_queue (threads) → reader

scan            AsyncScan: what to read, from where to where
log_fetcher     the fetch loop: several answers under way, bounded memory
filter_message  a filter, as a fetch carries it to the server
cursor          how far one bucket has been read
cursor_mender   finds the leaders of buckets that have none
decode_queue    pieces on their way through the decoder, in order
remote_reads    one scan's way through remote segments, patient with stores and with servers that move on
damage_probe    where a log can be read again behind a range that its server refuses
log_peek        a look at what comes next in a bucket's log
log_marks       which batch a log has before an end, to tell later whether it is the same log
"""
