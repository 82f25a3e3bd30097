"""What people write, and what they are told when it is wrong.

session           which server, as whom; `--server`, `--user`, `--client` and `--debug`
cluster_watch     whether there is a cluster to answer for, told by what serves
credentials       user and password, which is never on the command line
key_values        KEY=VALUE, as often as it is said
config_file       settings of a server in a YAML file
fluss_properties  settings of a server in the variable FLUSS_PROPERTIES
parameters        what people write → names, places in a log; completion from the server
command_tree      how commands are found without loading all of them
near_names        what was meant by a name
failures          exceptions → one sentence and an exit code, in one place
libraries         what a command needs that is not installed, told with what to install
listening         options of commands that listen
lake_read         options of commands that read the lake too
row_filter        rows for which a condition is true
"""
