"""How much strangers may take.

crowd          how many may be here, in all and of one address
failed_logins  wrong logins by address: slower and slower, then not at all
"""
