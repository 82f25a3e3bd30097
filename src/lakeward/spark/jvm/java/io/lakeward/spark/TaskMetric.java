package io.lakeward.spark;

import org.apache.spark.sql.connector.metric.CustomTaskMetric;

/** One number of one task. */
final class TaskMetric implements CustomTaskMetric {
    private final String name;
    private final long value;

    TaskMetric(String name, long value) {
        this.name = name;
        this.value = value;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long value() {
        return value;
    }
}
