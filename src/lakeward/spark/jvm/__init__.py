"""The jar for Spark's side, and how it is built from the Java sources beside it.

    java/                 the sources, package io.lakeward.spark
    lakeward-spark.jar    built by `make shim`; its manifest holds the hash of the sources it was built from
    build                 javac and a reproducible jar, no build tool

From the JVM's side: FlussCatalog and FlussSource hand out FlussTable; that makes FlussScan or FlussStream (splits, read
by SplitReader) and FlussBatchWrite or FlussStreamingWrite (parts, written by PartWriter). All of them know nothing by
themselves: they ask a Bridge, which is a Python process (lakeward.spark.bridge) out of the BridgePool of their JVM.
PrunedStreams tells streams which columns a micro-batch uses, which Spark does for bounded scans alone.
WeightedAggregate stands apart, aggregates of Spark itself: MultisetAggregate keeps a Multiset for each group, as bytes
by MultisetFormat, and SumAggregate a WeightedSum of ExactNumbers.
"""
