"""Who is known, and whether a password is theirs.

credentials       of one listener: users of the file, and those whom options name
configured_users  those whom options name (jaas: as Java writes them down)
users             those whom `lakeward users` made, as their file has them now
users_file        that file: names and salted hashes
user_names        which names and passwords a user may have
hashing           what is slow on purpose, on a thread of its own
"""
