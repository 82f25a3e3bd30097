package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DeltaBatchWrite;
import org.apache.spark.sql.connector.write.DeltaWriter;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** The changes of one statement: staged by tasks, then sent by the driver, all deletes before all rows. */
final class RowChangesWrite implements DeltaBatchWrite {
    private final WriteSpec spec;
    private final KeyColumns key;
    private JsonNode sink;

    RowChangesWrite(WriteSpec spec, KeyColumns key) {
        this.spec = spec;
        this.key = key;
    }

    @Override
    public DeltaWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
        sink = Bridge.call(spec.settings(), "write.begin", spec.arguments());
        return new Factory(spec, key, sink);
    }

    @Override
    public void commit(WriterCommitMessage[] messages) {
        Bridge.call(spec.settings(), "write.commit", arguments(), parts(messages));
    }

    @Override
    public void abort(WriterCommitMessage[] messages) {
        if (sink != null) Bridge.call(spec.settings(), "write.abort", arguments(), parts(messages));
    }

    private ObjectNode arguments() {
        ObjectNode arguments = spec.arguments();
        arguments.set("sink", sink);
        return arguments.put("batch", 0);
    }

    private static List<byte[]> parts(WriterCommitMessage[] messages) {
        List<byte[]> deletes = new ArrayList<>();
        List<byte[]> rows = new ArrayList<>();
        for (WriterCommitMessage message : messages) {
            if (message == null) continue;
            Parts parts = (Parts) message;
            if (parts.deletes != null) deletes.add(parts.deletes.bytes());
            if (parts.rows != null) rows.add(parts.rows.bytes());
        }
        deletes.addAll(rows);
        return deletes;
    }

    /** What a task has staged of each kind, if anything. */
    private static final class Parts implements WriterCommitMessage {
        private static final long serialVersionUID = 1L;
        private final Part deletes;
        private final Part rows;

        Parts(Part deletes, Part rows) {
            this.deletes = deletes;
            this.rows = rows;
        }
    }

    private static final class Factory implements DeltaWriterFactory {
        private static final long serialVersionUID = 1L;
        private final WriteSpec spec;
        private final KeyColumns key;
        private final String sink;

        Factory(WriteSpec spec, KeyColumns key, JsonNode sink) {
            this.spec = spec;
            this.key = key;
            this.sink = sink.toString();
        }

        @Override
        public DeltaWriter<InternalRow> createWriter(int partition, long task) {
            return new Writer(spec, key, Json.parse(sink));
        }
    }

    private static final class Writer implements DeltaWriter<InternalRow> {
        private final WriteSpec spec;
        private final KeyColumns key;
        private final JsonNode sink;
        private PartWriter deletes;
        private PartWriter rows;

        Writer(WriteSpec spec, KeyColumns key, JsonNode sink) {
            this.spec = spec;
            this.key = key;
            this.sink = sink;
        }

        @Override
        public void delete(InternalRow metadata, InternalRow id) throws IOException {
            if (deletes == null) deletes = new PartWriter(spec, sink, 0, true);
            deletes.write(id);
        }

        @Override
        public void update(InternalRow metadata, InternalRow id, InternalRow row) throws IOException {
            key.check(id, row);
            insert(row);
        }

        @Override
        public void insert(InternalRow row) throws IOException {
            if (rows == null) rows = new PartWriter(spec, sink, 0, false);
            rows.write(row);
        }

        @Override
        public WriterCommitMessage commit() throws IOException {
            return new Parts(deletes == null ? null : deletes.commit(), rows == null ? null : rows.commit());
        }

        @Override
        public void abort() {}

        @Override
        public void close() {
            if (deletes != null) deletes.close();
            if (rows != null) rows.close();
        }
    }
}
