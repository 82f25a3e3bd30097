package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.connector.read.InputPartition;

/** What one task reads, in the words of lakeward.query.splits: a list of them. */
final class Split implements InputPartition {
    private static final long serialVersionUID = 2L;
    private final String json;
    private final Map<String, Integer> tiers = new HashMap<>();
    private final int count;

    private Split(JsonNode splits) {
        json = splits.toString();
        count = splits.size();
        for (JsonNode split : splits) tiers.merge(split.path("tier").asText(), 1, Integer::sum);
    }

    static InputPartition[] of(JsonNode splits) {
        InputPartition[] all = new InputPartition[splits.size()];
        for (int i = 0; i < all.length; i++) all[i] = new Split(splits.get(i));
        return all;
    }

    JsonNode json() {
        return Json.parse(json);
    }

    int count() {
        return count;
    }

    int count(String tier) {
        return tiers.getOrDefault(tier, 0);
    }

    @Override
    public String toString() {
        return json;
    }
}
