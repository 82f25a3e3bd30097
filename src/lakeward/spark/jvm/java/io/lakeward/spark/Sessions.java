package io.lakeward.spark;

import org.apache.spark.sql.SparkSession;

/** What has to be asked of the session that a query runs in. */
final class Sessions {
    private Sessions() {}

    /** How many tasks run at the same time. */
    static int parallelism() {
        return SparkSession.active().sparkContext().defaultParallelism();
    }

    static String conf(String key) {
        return SparkSession.active().conf().get(key, null);
    }
}
