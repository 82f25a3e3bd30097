"""Who comes in.

accounts  logins, and a connection to the cluster for each user
proofs    passwords that are proven and not sent
basic     name and password as HTTP sends them
guesses   wrong ones: slower and slower, then not at all
"""
