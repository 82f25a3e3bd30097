"""What Apache Fluss has and we have not.

inert_keys  its options that have no effect here
"""
