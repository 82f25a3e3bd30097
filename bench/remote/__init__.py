"""Remote storage: `python -m bench.remote`.

__main__  options; prints, and writes docs/benchmarks-remote.md
place     a directory, and a bucket of SeaweedFS on this machine
stores    how fast a library puts and gets: `python -m bench.remote.stores`
copies    closed segments on their way, and what appends notice of it
scans     scans that start in remote history, beside the server's own disk
restore   a server that lost its disk
"""
