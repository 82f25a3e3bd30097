package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/** The micro-batches of a query: each is staged by tasks and sent by the driver, exactly once. */
final class FlussStreamingWrite implements StreamingWrite {
    private final WriteSpec spec;
    private JsonNode sink;

    FlussStreamingWrite(WriteSpec spec) {
        this.spec = spec;
    }

    @Override
    public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
        ObjectNode arguments = spec.arguments();
        arguments.put("streaming", true).put("query", spec.queryId()).put("checkpoint", checkpoint());
        sink = Bridge.call(spec.settings(), "write.begin", arguments);
        return new PartWriterFactory(spec, sink);
    }

    @Override
    public void commit(long batch, WriterCommitMessage[] messages) {
        Bridge.call(spec.settings(), "write.commit", arguments(batch), Part.bytes(messages));
    }

    @Override
    public void abort(long batch, WriterCommitMessage[] messages) {
        if (sink != null) Bridge.call(spec.settings(), "write.abort", arguments(batch), Part.bytes(messages));
    }

    private ObjectNode arguments(long batch) {
        ObjectNode arguments = spec.arguments();
        arguments.set("sink", sink);
        return arguments.put("batch", batch);
    }

    /** The query's checkpoint; where the session names only a root for all queries, this query's own place in it. */
    private String checkpoint() {
        String own = spec.settings().option("checkpointLocation");
        if (own != null) return own;
        String root = Sessions.conf("spark.sql.streaming.checkpointLocation");
        return root == null ? null : root + "/lakeward-" + spec.queryId();
    }
}
