"""An empty machine becomes the server again, from what is in remote storage.

    restore            Restore: take over the remote directory, bring metadata and buckets back, say what came
    source             what is there: who wrote last and when, the newest backup of the metadata that can be read
    restored_metadata  the metadata of the old server made that of the new one: an identity, ids that were never given
    verified_metadata  metadata read and judged
    verified_store     … and all that is in remote storage
    repaired_metadata  metadata that is not whole, set back to the newest state that is
    restored_log       where a bucket's log goes on: behind what is remote, with what its writers had done
    restored_state     the newest snapshot that the remote log reaches, and the changes since
    report             what came back, and what did not

Until all of it is there, a file marks the directory as unfinished: no server starts in it, and the next restore begins
anew.
"""
