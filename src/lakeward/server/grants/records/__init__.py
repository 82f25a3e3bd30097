"""Who did what, and how much of it.

ledger         sees every request come and every answer go
accounts       what each principal has asked for, and what they may ask for
quotas         rates by principal: who is over theirs waits
audit          changes, refusals and failed logins, one line of JSON each
audit_file     … in files that begin anew when they are large
audited_calls  which requests are changes, and what of them is written down
"""
