package io.lakeward.spark;

import org.apache.spark.sql.connector.metric.CustomSumMetric;

/** How many rows came from the bridge. */
public final class RowsMetric extends CustomSumMetric {
    static final String NAME = "lakewardRows";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "rows from Fluss";
    }
}
