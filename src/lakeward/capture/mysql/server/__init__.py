"""The server: how it is reached, what it says, and where its binlog is.

server_settings  ServerSettings: which server, as whom, which tables
mysql_session    MysqlSession: one connection
mysql_errors     what went wrong, in sentences
packets          PacketReader: blocks of packets
wire_kernels     packets and fields cut in loops
position         places in the binlog
log_status       LogStatus: where the binlog ends, and whether it will do
"""
