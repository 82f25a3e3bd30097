"""SQL behind ports: tables of a cluster, lake and log as one, for clients that speak something standard.

server    takes the ports, and stops when it is told to
postgres  Postgres's protocol, for psql, psycopg and BI tools
flight    Arrow Flight SQL, for ADBC and JDBC
plans     what a read would take, for engines that read by themselves
frame     what all of them share
access    who comes in, and as whom the cluster is asked
work      where questions are answered: so many at once, no longer than they may
"""
