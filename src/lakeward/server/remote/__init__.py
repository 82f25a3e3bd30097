"""The server's side of remote storage: what was closed is copied, beside the event loop.

    role           both services put together
    state_service  copies of state and metadata
    log_service    copies of logs
    commits        what tablet servers bring there counts from the coordinator's commit on
    this_server    what they must know of the server that they copy
    copies/        segments, snapshots and metadata on their way
    access/        the store, who may write to it, what clients need to read it

Nothing here waits for the store on the event loop, and nothing happens when `remote.data.dir` is not set.
"""
