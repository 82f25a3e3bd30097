"""One row a check, by what it looks at.

all_checks  CHECKS: every row, in the order in which a person would look
address     who listens, and whether clients can get there
storage     disk, damage, remote copies
machine     clock, limits, memory, versions
directory   the data directory
load        slow writes, slow reads
lake        tiering and the lake
tables      buckets, retention, groups of readers
security    logins, encryption, grants, files with secrets
"""
