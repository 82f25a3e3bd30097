"""What requests of the tablet role share.

flow            work whose long parts are done here, or beside the loop
flushes         a write that is answered when its log was synced
parked_request  a request that is kept
pending         a write request whose buckets are done one after the other
request_spans   requests that are followed, step by step
traffic         rows and bytes of each table, in and out
table_stats     GET_TABLE_STATS, counted by whoever knows the rows
limit_errors    refusals of what asks for too much
"""
