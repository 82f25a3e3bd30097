"""Doors to the world: all that is not deterministic enters here.

clock          Clock: the system's, or one moved by hand
trusted_clock  a clock that does not follow jumps at once
backoff        how long to rest between attempts
entropy        ids and randomness, from the system or from a seed
saslprep       names and passwords in the one form in which they are compared
scram          SCRAM-SHA-256, both ends: a password is proven and never sent
secret_text    passwords, and where they are kept: `${env:NAME}`, `file:/path`
version        which Lakeward this is
seldom         warnings that are said once in a while
files/         files on a disk or in memory, and the one way to write a file that must last
process/       this process and those that it starts
"""
