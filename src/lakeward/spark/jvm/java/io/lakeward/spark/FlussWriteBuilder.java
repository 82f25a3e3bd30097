package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.SupportsDynamicOverwrite;
import org.apache.spark.sql.connector.write.SupportsOverwriteV2;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/** Append, or overwrite of partitions: those that filters name, those that the rows are in, or all. */
class FlussWriteBuilder implements WriteBuilder, SupportsOverwriteV2, SupportsDynamicOverwrite {
    private final WriteSpec spec;
    private final ObjectNode overwrite = Json.object().put("mode", "append");

    FlussWriteBuilder(WriteSpec spec) {
        this.spec = spec;
    }

    @Override
    public boolean canOverwrite(Predicate[] predicates) {
        for (Predicate predicate : predicates) {
            if (!isAlwaysTrue(predicate) && Filters.toJson(predicate).isEmpty()) return false;
        }
        return true;
    }

    @Override
    public WriteBuilder overwrite(Predicate[] predicates) {
        ArrayNode filters = overwrite.put("mode", "filters").putArray("filters");
        for (Predicate predicate : predicates) {
            Optional<JsonNode> json = Filters.toJson(predicate);
            if (!isAlwaysTrue(predicate)) filters.add(json.orElseThrow());
        }
        return this;
    }

    @Override
    public WriteBuilder overwriteDynamicPartitions() {
        overwrite.put("mode", "dynamic");
        return this;
    }

    @Override
    public Write build() {
        return new Write() {
            @Override
            public String description() {
                return "fluss " + spec.table();
            }

            @Override
            public BatchWrite toBatch() {
                return batch(spec, overwrite);
            }

            @Override
            public StreamingWrite toStreaming() {
                checkAppends();
                return new FlussStreamingWrite(spec);
            }
        };
    }

    /** Complete mode comes as a truncation, and a micro-batch can only add to what is there. */
    private void checkAppends() {
        if (overwrite.get("mode").asText().equals("append")) return;
        throw new LakewardException("INVALID_CONFIG", "A stream into table " + spec.table() + " cannot be in complete"
            + " mode, which replaces all rows each time; use update mode, which a table with a primary key takes, or"
            + " foreachBatch with an overwrite.");
    }

    BatchWrite batch(WriteSpec spec, ObjectNode overwrite) {
        return new FlussBatchWrite(spec, overwrite);
    }

    private static boolean isAlwaysTrue(Predicate predicate) {
        return predicate.name().equals("ALWAYS_TRUE");
    }
}
