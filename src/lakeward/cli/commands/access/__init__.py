"""Who may come in.

users       users of a server, in its data directory
user_files  … the file of them, and where passwords come from
certs       certificates to try encryption with (dev_authority: who signs them)
"""
