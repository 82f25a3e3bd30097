"""Tables in an open lake: what tiering writes and any engine reads.

library_version   the library behind a format: a version that is not known to work is refused
formats           formats by name; third parties plug in by the entry point group `lakeward.lake_formats`
catalog_of        the catalog that a table is in, opened once in a process
home              where a table's lake is, as the cluster remembers it; whoever looks elsewhere is told
trial             a lake tried before the cluster is told of it
iceberg/          the only folder that imports pyiceberg
paimon/           Paimon's files, written by ourselves
port              what every format offers: catalog, table, writer, snapshot, reader
conflict          the error of a round that came too late
round_properties  what a snapshot's own properties say of the round that made it
offsets_document  how far each bucket's log is in the lake, as Apache Fluss writes it
rows/             rows on their way into data files, and back
files/            where files are: on a disk or in a bucket
"""
