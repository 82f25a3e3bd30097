"""One row a check, by what it looks at.

all_checks  CHECKS: every row, in the order in which a person would look
address     who listens, and whether clients can get there
storage     disk, damage, remote copies
lake        tiering and the lake
tables      buckets, retention, groups of readers
"""
