"""The nouns: frozen values without I/O and without bytes.

data_types   DataType, TypeRoot, and one factory per type: INT(), DECIMAL(10, 2), ROW(…)
type_text    "DECIMAL(10, 2) NOT NULL" ↔ DataType, and lists of columns (sql_tokens reads the words)
values       what a column holds in memory, type by type; Timestamp
moments      a moment as people write it
java_text    numbers and times as Java prints them
schema       Column, Schema: columns with ids, keys, evolution
table        TablePath, TableDescriptor, TableInfo
partition    PartitionSpec names, and the text form of typed partition values (partition_text: read backwards)
bucket       TableBucket: the unit that has one log
principal    Principal: who asks
acl          Acl: who may do what; resources, operations, filters
names        which names are legal for databases, tables and partition values
json_form    descriptors ↔ JSON, as stored and as sent
"""
