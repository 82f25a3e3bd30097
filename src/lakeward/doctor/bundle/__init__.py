"""What a maintainer asks for, in one file, without a row and without a secret.

bundle      Bundle: texts by name, each bounded, written as a zip for its owner alone
collect     texts of a cluster, of this machine and of the data directory
redaction   secrets starred out, users replaced by numbers
"""
