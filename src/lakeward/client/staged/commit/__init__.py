"""On the driver: parts → manifest → append → done.

sink          StagedSink: commits the parts of a batch id, once, however often it is asked
planning      parts → which batch goes to which bucket. Decides, asks nobody
ledger        the files of a sink: manifests, what is done, parts; what may be deleted
appender      partitions, offsets and writer ids; batches out of parts → lanes → servers
staged_bytes  a finished batch, read back and given its sender's name
progress      how much of a manifest the log holds already. Decides, asks nobody
log_headers   the headers of a bucket's log from an offset on
"""
