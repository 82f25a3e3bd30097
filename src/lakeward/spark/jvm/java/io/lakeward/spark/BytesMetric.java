package io.lakeward.spark;

import org.apache.spark.sql.connector.metric.CustomSumMetric;

/** How many bytes of Arrow came from the bridge. */
public final class BytesMetric extends CustomSumMetric {
    static final String NAME = "lakewardBytes";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "Arrow bytes from Fluss";
    }
}
