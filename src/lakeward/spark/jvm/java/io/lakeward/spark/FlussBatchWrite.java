package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** A batch of rows: staged by tasks, then sent by the driver when all of them are done. */
final class FlussBatchWrite implements BatchWrite {
    private final WriteSpec spec;
    private final ObjectNode overwrite;
    private JsonNode sink;

    FlussBatchWrite(WriteSpec spec, ObjectNode overwrite) {
        this.spec = spec;
        this.overwrite = overwrite;
    }

    @Override
    public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
        ObjectNode arguments = spec.arguments();
        arguments.set("overwrite", overwrite);
        sink = Bridge.call(spec.settings(), "write.begin", arguments);
        return new PartWriterFactory(spec, sink);
    }

    @Override
    public void commit(WriterCommitMessage[] messages) {
        Bridge.call(spec.settings(), "write.commit", arguments(), Part.bytes(messages));
    }

    @Override
    public void abort(WriterCommitMessage[] messages) {
        if (sink != null) Bridge.call(spec.settings(), "write.abort", arguments(), Part.bytes(messages));
    }

    private ObjectNode arguments() {
        ObjectNode arguments = spec.arguments();
        arguments.set("overwrite", overwrite);
        arguments.set("sink", sink);
        return arguments.put("batch", 0);
    }
}
