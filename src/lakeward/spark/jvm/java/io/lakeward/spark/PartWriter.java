package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.util.Base64;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.VectorUnloader;
import org.apache.arrow.vector.ipc.ReadChannel;
import org.apache.arrow.vector.ipc.WriteChannel;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.IpcOption;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.arrow.vector.types.pojo.Schema;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.execution.arrow.ArrowWriter;

/** Turns the rows of a task into Arrow and hands them to Python, which stages them. */
final class PartWriter implements DataWriter<InternalRow> {
    private static final int CHECK_ROWS = 1024;

    private final Bridge bridge;
    private final int batchRows;
    private final long batchBytes;
    private final BufferAllocator allocator;
    private final VectorSchemaRoot root;
    private final ArrowWriter writer;
    private int rows;
    private boolean finished;

    PartWriter(WriteSpec spec, JsonNode sink, long batch) {
        this(spec, sink, batch, false);
    }

    /** With `deletes`, rows are keys of rows to delete. */
    PartWriter(WriteSpec spec, JsonNode sink, long batch, boolean deletes) {
        ObjectNode arguments = spec.arguments().put("deletes", deletes);
        arguments.set("sink", sink);
        arguments.put("batch", batch);
        batchRows = sink.get("batch_rows").asInt();
        batchBytes = sink.get("batch_bytes").asLong();
        Schema schema = schema(sink.get(deletes ? "key_arrow_schema" : "arrow_schema").asText());
        allocator = Arrows.allocator("write " + spec.table());
        root = VectorSchemaRoot.create(schema, allocator);
        writer = ArrowWriter.create(root);
        bridge = Bridge.open(spec.settings(), "write", arguments);
    }

    @Override
    public void write(InternalRow row) throws IOException {
        writer.write(row);
        rows++;
        if (rows == batchRows || (rows % CHECK_ROWS == 0 && writer.sizeInBytes() > batchBytes)) flush();
    }

    @Override
    public Part commit() throws IOException {
        if (rows > 0) flush();
        try {
            bridge.send(Bridge.END, new byte[0]);
            byte type = bridge.readHeader();
            if (type != Bridge.BYTES) fail(type);
            byte[] part = bridge.readPayload();
            finished = true;
            return new Part(part);
        } catch (IOException e) {
            throw bridge.lost(e);
        }
    }

    @Override
    public void abort() {
        // Closing the socket in the middle of a write tells Python to drop what it has staged.
    }

    @Override
    public void close() {
        root.close();
        allocator.close();
        if (finished) BridgePool.giveBack(bridge);
        else bridge.close();
    }

    private void flush() throws IOException {
        writer.finish();
        try (ArrowRecordBatch batch = new VectorUnloader(root).getRecordBatch()) {
            if (bridge.hasNews()) fail(Bridge.ERROR);
            send(batch);
        } catch (LakewardException e) {
            throw e;
        } catch (IOException e) {
            throw bridge.lost(e);
        }
        writer.reset();
        rows = 0;
    }

    private void send(ArrowRecordBatch batch) throws IOException {
        ByteBuffer metadata = MessageSerializer.serializeMetadata(batch, IpcOption.DEFAULT);
        int prefix = 8 + metadata.remaining();
        int padding = -prefix & 7;
        bridge.sendHeader(Bridge.ARROW, prefix + padding + batch.computeBodyLength());
        WriteChannel out = new WriteChannel(new Frame());
        MessageSerializer.writeMessageBuffer(out, metadata.remaining() + padding, metadata);
        out.align();
        MessageSerializer.writeBatchBuffers(out, batch);
    }

    private void fail(byte type) throws IOException {
        finished = true;
        bridge.answer(type);
        throw new IOException("The Lakeward process answered out of turn.");
    }

    private static Schema schema(String base64) {
        byte[] bytes = Base64.getDecoder().decode(base64);
        try {
            return MessageSerializer.deserializeSchema(
                new ReadChannel(Channels.newChannel(new ByteArrayInputStream(bytes))));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The rest of a frame whose header was sent. */
    private final class Frame implements WritableByteChannel {
        @Override
        public int write(ByteBuffer bytes) throws IOException {
            return bridge.send(bytes);
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }
}
