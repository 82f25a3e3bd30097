"""Capture of MySQL and MariaDB: rows by SELECT in snapshots, changes from the binlog.

mysql_database  MysqlDatabase: the port of captures
mysql_options   rows of options
mysql_settings  MysqlSettings: settings made of options
read            rows of a range as they were at a place, and changes between two places
schema          what tables are, and what statements make of them
binlog          events of the binlog
server          connections, packets, places in the binlog
cells           values of columns → Arrow
"""
