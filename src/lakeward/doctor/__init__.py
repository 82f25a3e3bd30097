"""What goes wrong in practice, looked for, and what to do about it. Looks only: nothing is ever changed.

    examine    the door: examine(connection) → Examination; facts are gathered once, then judged
    bundle/    what a maintainer asks for, in one file, without a secret
    look/      the shell: asks the cluster, its pages, this machine and the data directory for facts, within a time
    checks/    the core: one row a check, a function of facts
    findings/  Finding: what is wrong, with what, and what to do; Check: a row
    facts/     values: what was found, and what could not be learned, and why

`lakeward doctor` and the console's overview show the same findings. A room imports only rooms below it.
"""
