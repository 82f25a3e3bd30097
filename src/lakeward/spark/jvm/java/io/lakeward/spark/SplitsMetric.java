package io.lakeward.spark;

import org.apache.spark.sql.connector.metric.CustomSumMetric;

/** How many splits were read. */
public final class SplitsMetric extends CustomSumMetric {
    static final String NAME = "lakewardSplits";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "splits of Fluss read";
    }
}
