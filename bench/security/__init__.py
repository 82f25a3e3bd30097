"""What logins, grants and TLS cost, and what strangers do to others: `python -m bench.security`.

__main__      options; prints, and writes docs/benchmarks-security.md
secured_work  append and scan at listeners that ask, check and encrypt
idle_logins   connections that have logged in and say nothing
strangers     somebody who is in, while strangers do what they can
"""
