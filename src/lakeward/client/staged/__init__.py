"""Exactly-once writes, with nothing but the official protocol (docs/decisions/0014).

    in the tasks: rows → encode → part (bytes, or a file)
    on the driver: parts → manifest → append → done

In the tasks
    writer          StagedWriter: rows in, one part out
    stages          rows → finished batches, for logs and for changes by key
    ordered_work    encoding on threads, results in order
    change_types    a column that says what each row is: put, deleted, or of no interest
    part            finished batches without a sender's name: what a task hands to the driver

On the driver
    sink            StagedSink: commits the parts of a batch id, once, however often it is asked
    planning        parts → which batch goes to which bucket. Decides, asks nobody
    manifest        what a commit will append, where, under which writer id and sequences. Written first, never changed
    ledger          the files of a sink: manifests, what is done, parts; what may be deleted
    appender        partitions, offsets and writer ids; batches out of parts → lanes → servers
    staged_bytes    a finished batch, read back and given its sender's name
    progress        how much of a manifest the log holds already. Decides, asks nobody
    log_headers     the headers of a bucket's log from an offset on

Both
    open_directory    a path or URI → one of the two
    directory         a local directory; files that are created once
    remote_directory  the same on any file system of pyarrow.fs
    table_access    the parts of a connection that staged writes work with
"""

from lakeward.client.staged.sink import CommitResult, StagedSink
from lakeward.client.staged.writer import StagedWriter

__all__ = ["CommitResult", "StagedSink", "StagedWriter"]
