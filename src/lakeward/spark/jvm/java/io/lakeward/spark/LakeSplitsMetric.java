package io.lakeward.spark;

import org.apache.spark.sql.connector.metric.CustomSumMetric;

/** How many splits were files of the lake alone. */
public final class LakeSplitsMetric extends CustomSumMetric {
    static final String NAME = "lakewardLakeOnlySplits";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "splits LAKE_ONLY";
    }
}
