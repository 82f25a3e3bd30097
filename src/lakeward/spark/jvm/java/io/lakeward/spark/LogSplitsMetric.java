package io.lakeward.spark;

import org.apache.spark.sql.connector.metric.CustomSumMetric;

/** How many splits came from the servers alone. */
public final class LogSplitsMetric extends CustomSumMetric {
    static final String NAME = "lakewardLogOnlySplits";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "splits LOG_ONLY";
    }
}
