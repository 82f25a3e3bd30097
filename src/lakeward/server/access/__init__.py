"""Who comes in: on a listener that asks for a login nobody asks for anything before they have shown who they are.

access         all of it put together, from the options
doorkeeper     strangers, and how they become somebody: AUTHENTICATE, a certificate, HTTP's password
logins         SASL: PLAIN and SCRAM-SHA-256, one exchange per connection
open_doors     what is said of a listener that lets everybody in
known/         who is known, and whether a password is theirs
encryption/    TLS: certificates, and connections that are being encrypted
bounds/        how much strangers may take
"""
