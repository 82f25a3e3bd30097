"""Tables, committed ones and as they are now.

loaded  Loaded: a table as it is answered, with its ETag
vended  where its bucket is, and temporary keys to its folder
"""
