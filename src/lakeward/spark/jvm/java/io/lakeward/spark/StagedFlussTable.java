package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** A table that is being made, or made anew: nothing of the old one goes before every new row is there. */
final class StagedFlussTable extends FlussTable implements StagedTable {
    private final ObjectNode arguments;
    private JsonNode sink;
    private List<byte[]> parts = List.of();

    StagedFlussTable(BridgeSettings settings, JsonNode described, ObjectNode asked) {
        super(settings, described);
        this.arguments = asked.put("made", described.get("name").asText());
        arguments.set("beside", described.get("beside"));
    }

    @Override
    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        WriteSpec spec = new WriteSpec(settings.with(writeOptions(info)), name(), info);
        return new FlussWriteBuilder(spec) {
            @Override
            BatchWrite batch(WriteSpec spec, ObjectNode overwrite) {
                return new Held(spec);
            }
        };
    }

    @Override
    public void commitStagedChanges() {
        if (sink != null) arguments.set("sink", sink);
        Bridge.call(settings, "commit_staged", arguments, parts);
    }

    @Override
    public void abortStagedChanges() {
        if (sink != null) arguments.set("sink", sink);
        Bridge.call(settings, "abort_staged", arguments);
    }

    @Override
    public CustomTaskMetric[] reportDriverMetrics() {
        return new CustomTaskMetric[0];
    }

    /** The rows: staged by tasks, and held until the table is committed. */
    private final class Held implements BatchWrite {
        private final WriteSpec spec;

        Held(WriteSpec spec) {
            this.spec = spec;
        }

        @Override
        public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
            sink = Bridge.call(spec.settings(), "write.begin", spec.arguments());
            return new PartWriterFactory(spec, sink);
        }

        @Override
        public void commit(WriterCommitMessage[] messages) {
            parts = Part.bytes(messages);
        }

        /** Spark aborts the table too, which deletes everything. */
        @Override
        public void abort(WriterCommitMessage[] messages) {}
    }
}
