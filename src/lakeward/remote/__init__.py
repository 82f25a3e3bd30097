"""Files on another machine: closed log segments and snapshots, in a directory or in S3.

    store               RemoteStore: the port; StoredObject
    open_store          open_store(url, settings): the store of a URL; check_store: may we read and write there
    directory_store     a directory of this machine, or one that is mounted
    whole_files         whole files or none: written beside, synced, renamed
    s3_store            S3 and what speaks like it, by obstore; s3_failures: what obstore says, in one sentence
    s3_settings         the property names people know → S3Settings
    repeated            a call made again while it fails in a way that may pass
    pace                Pace: at most so many bytes a second, over all copies

    credentials         keys and their end; renewed in time
    credential_chain    where keys are looked for: properties, environment, web identity, profile, container, instance
    s3_keys             keys, as obstore asks for them
    sts                 temporary keys; signed_call, signature: asked for with a signature of ours
    open_uploads        parts of large files that a killed process left in a bucket
    read_policy         what the temporary keys of clients may do

    layout              where each thing lies
    log_manifest        which segments of a bucket are remote
    snapshot_metadata   which files make a snapshot

Stores import obstore; the rest is light. Nothing here knows tables.
"""
