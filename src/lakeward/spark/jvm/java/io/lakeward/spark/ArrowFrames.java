package io.lakeward.spark;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

/** The Arrow frames of an answer as one Arrow IPC stream; ends where the answer ends. */
final class ArrowFrames implements ReadableByteChannel {
    private final Bridge bridge;
    private long bytes;
    private boolean ended;

    ArrowFrames(Bridge bridge) {
        this.bridge = bridge;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        while (bridge.payloadLeft() == 0) {
            if (ended) return -1;
            byte type = bridge.readHeader();
            if (type == Bridge.ARROW) continue;
            ended = true;
            bridge.answer(type);
            return -1;
        }
        int count = bridge.readPayload(target);
        bytes += count;
        return count;
    }

    /** The next number of rows of an answer without columns; -1 at its end. */
    int nextCount() throws IOException {
        if (ended) return -1;
        byte type = bridge.readHeader();
        if (type == Bridge.COUNT) return ByteBuffer.wrap(bridge.readPayload()).getInt();
        ended = true;
        bridge.answer(type);
        return -1;
    }

    long bytes() {
        return bytes;
    }

    boolean hasEnded() {
        return ended;
    }

    /** Tell the other side to stop and read away what it has sent. */
    void cancel() throws IOException {
        bridge.send(Bridge.CANCEL, new byte[0]);
        while (!ended) {
            bridge.skipPayload();
            byte type = bridge.readHeader();
            if (type == Bridge.ARROW || type == Bridge.COUNT) continue;
            ended = true;
            bridge.readPayload();
        }
    }

    @Override
    public boolean isOpen() {
        return !ended;
    }

    @Override
    public void close() {}
}
