"""What a check is, and what it says.

check    Check: a row; Verdict, what its function says
finding  Finding: what is wrong, with what, and what to do; Severity
"""
