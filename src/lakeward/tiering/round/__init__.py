"""One table's round, on the driver.

round            what to read, tasks, one lake commit, the report; repairs what a crash left
held_rounds      which rounds a service holds, in a file: after a crash they are given back at once
split_generator  lake offsets, log offsets → splits; a pure function
damaged_buckets  buckets that stop at damage while the others go on; ranges passed over on purpose
catalogs         which lake catalog a table belongs to
runner           the port of whatever runs tasks; threads of this process, if no engine does
"""
