package io.lakeward.spark;

import org.apache.spark.sql.connector.metric.CustomSumMetric;

/** How many splits were files with changes laid over them. */
public final class HybridSplitsMetric extends CustomSumMetric {
    static final String NAME = "lakewardHybridSplits";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "splits HYBRID";
    }
}
