package io.lakeward.spark;

import org.apache.spark.sql.connector.read.streaming.Offset;

/** A place in a stream, in the words of lakeward.query.stream. */
final class FlussOffset extends Offset {
    private final String json;

    FlussOffset(String json) {
        this.json = json;
    }

    @Override
    public String json() {
        return json;
    }
}
