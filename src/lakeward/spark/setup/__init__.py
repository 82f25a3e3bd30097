"""A Spark that knows us.

spark_session  a SparkSession with Java, jar, catalog and settings in place; or a context alone
secret_settings  what of the settings may stand on a command line, and how executors get the rest
session_behind  … that starts behind what is done meanwhile
active_session  the session that is active on a thread, for a while
own_pool       a share of Spark's scheduler for one stream
ingest_sources  the data sources of `spark.ingest` in a session
java_home      a Java for Spark: the machine's own, or the one that came with the extra `spark`
class_archive  Spark's classes in an archive, from which a Java starts in half the time
make_archive   … made once
beside         work beside the main thread, which hears signals meanwhile
jar            where the jar with the catalog is
"""
