"""What somebody may do, what they did, and how much of it.

    grants        all of it, put together from the options
    guard         the one place where rights are asked for, before any handler
    acl_handlers  rights are given out, shown and taken back
    rules/        what each API asks for
    acls/         who may do what
    records/      who did what, and how much: audit, accounts, quotas

A request goes from the dispatcher through its rule to its handler; without an authorizer there are no rules. What it
was and how it ended is on the record either way.
"""
