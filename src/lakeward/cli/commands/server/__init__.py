"""Servers: run, measured, looked after.

serve       run a server
tablet_process … one of several
restore     rebuild a lost one from its remote storage
metadata    mend the files of its catalog
doctor      what is wrong, and what to do
verify      what is damaged, in a data directory
verify_cluster … and what differs, in a running cluster
verify_store … and in remote storage
repair      … and giving it up
cluster     servers and options
remote      what is in remote storage
console     a cluster in a browser
bench       measure a server
bench_work  … the work that is measured
completion  the shell's completion
"""
