package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.spark.sql.connector.read.InputPartition;

/** What one task reads, in the words of lakeward.query.splits. */
final class Split implements InputPartition {
    private static final long serialVersionUID = 1L;
    private final String json;

    private Split(String json) {
        this.json = json;
    }

    static InputPartition[] of(JsonNode splits) {
        InputPartition[] all = new InputPartition[splits.size()];
        for (int i = 0; i < all.length; i++) all[i] = new Split(splits.get(i).toString());
        return all;
    }

    JsonNode json() {
        return Json.parse(json);
    }

    @Override
    public String toString() {
        return json;
    }
}
