"""A table as it is now: files of what is hot, and a snapshot of them on top of a committed one. It is never committed.

now_base      NowBase: what is committed, ready to be built upon
hot_files     HotFiles: rows → data files, rows that are gone → position deletes, in an area of their own
kept_keys     KeptKeys: key columns of files in memory, up to a bound
now_snapshot  both → manifests and a metadata file, as the format prescribes them
now_area      NowArea: where all of this lies, and what of it is too old to be anybody's
"""
