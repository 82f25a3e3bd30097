"""Who may come in.

acls        grants: who may do what
users       users of a server, in its data directory
user_files  … the file of them, and where passwords come from
certs       certificates to try encryption with (dev_authority: who signs them)
"""
