"""A Spark that knows us.

spark_session  a SparkSession with Java, jar, catalog and settings in place
java_home      a Java for Spark: the machine's own, or the one that came with the extra `spark`
jar            where the jar with the catalog is
"""
