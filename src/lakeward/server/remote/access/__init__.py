"""The store, and who may use it.

opening       the store of `remote.data.dir`, checked when the server starts
tokens        what clients need to read remote files themselves
s3_tokens     … temporary keys
ownership     one server at a time writes to a remote directory
watch         … looked at again and again
fenced_store  … and a store that refuses when it is not us
copy_trouble  the store fails: said once, tried again less and less often, said once when it works again
"""
