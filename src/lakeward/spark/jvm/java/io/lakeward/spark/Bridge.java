package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.util.List;

/** Calls to one Python process: frames out, frames in. A frame is a type (u8), a length (u32) and so many bytes. */
final class Bridge {
    static final byte JSON = 'J';
    static final byte ERROR = 'E';
    static final byte ARROW = 'A';
    static final byte BYTES = 'B';
    static final byte COUNT = 'N';
    static final byte END = 'Z';
    static final byte CANCEL = 'C';
    static final int HEADER_BYTES = 5;

    private final String python;
    private final BridgeProcess process;
    private final ByteBuffer header = ByteBuffer.allocateDirect(HEADER_BYTES);
    private long idleSinceMs;

    Bridge(String python, BridgeProcess process) {
        this.python = python;
        this.process = process;
    }

    /** Make a call on a bridge of the pool and wait for its answer. */
    static JsonNode call(BridgeSettings settings, String name, ObjectNode arguments) {
        return call(settings, name, arguments, List.of());
    }

    /** The same, with byte strings after the arguments. */
    static JsonNode call(BridgeSettings settings, String name, ObjectNode arguments, List<byte[]> parts) {
        Bridge bridge = open(settings, name, arguments, parts.size());
        try {
            for (byte[] part : parts) bridge.send(BYTES, part);
            JsonNode answer = bridge.answer();
            BridgePool.giveBack(bridge);
            return answer;
        } catch (LakewardException e) {
            BridgePool.giveBack(bridge);
            throw e;
        } catch (IOException e) {
            throw bridge.lost(e);
        }
    }

    /** Send a call on a bridge of the pool, which is the caller's until given back or closed. */
    static Bridge open(BridgeSettings settings, String name, ObjectNode arguments) {
        return open(settings, name, arguments, 0);
    }

    private static Bridge open(BridgeSettings settings, String name, ObjectNode arguments, int parts) {
        try {
            Bridge bridge = BridgePool.take(settings.python());
            ObjectNode call = Json.object().put("call", name).put("parts", parts);
            call.set("options", Json.of(settings.options()));
            call.set("arguments", arguments);
            try {
                bridge.send(JSON, Json.bytes(call));
            } catch (IOException e) {
                throw bridge.lost(e);
            }
            return bridge;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String python() {
        return python;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Whether a bridge that has waited can still be used: its socket is open, and silent. */
    boolean isReady() {
        try {
            return process.isAlive() && !hasNews();
        } catch (IOException e) {
            return false;
        }
    }

    void rest() {
        idleSinceMs = System.currentTimeMillis();
    }

    long idleMs() {
        return System.currentTimeMillis() - idleSinceMs;
    }

    void close() {
        process.close();
    }

    /** One JSON answer, or the error that came in its place. */
    JsonNode answer() throws IOException {
        byte type = readHeader();
        return answer(type);
    }

    /** The rest of an answer whose header was read. */
    JsonNode answer(byte type) throws IOException {
        JsonNode body = Json.parse(readPayload());
        if (type == ERROR) throw new LakewardException(body.path("code").asText(), body.path("message").asText());
        return body;
    }

    /** The type of the next frame; its payload has to be read next. */
    byte readHeader() throws IOException {
        header.clear();
        readFully(header);
        header.flip();
        byte type = header.get();
        payloadLeft = Integer.toUnsignedLong(header.getInt());
        return type;
    }

    private long payloadLeft;

    long payloadLeft() {
        return payloadLeft;
    }

    byte[] readPayload() throws IOException {
        byte[] payload = new byte[Math.toIntExact(payloadLeft)];
        readFully(ByteBuffer.wrap(payload));
        payloadLeft = 0;
        return payload;
    }

    /** Bytes of the current payload, straight from the socket into the buffer. */
    int readPayload(ByteBuffer target) throws IOException {
        int limit = target.limit();
        if (target.remaining() > payloadLeft) target.limit(target.position() + (int) payloadLeft);
        int count = process.channel().read(target);
        target.limit(limit);
        if (count < 0) throw new EOFException();
        payloadLeft -= count;
        return count;
    }

    void skipPayload() throws IOException {
        ByteBuffer waste = ByteBuffer.allocate((int) Math.min(payloadLeft, 1 << 16));
        while (payloadLeft > 0) {
            waste.clear();
            readPayload(waste);
        }
    }

    void send(byte type, byte[] payload) throws IOException {
        sendHeader(type, payload.length);
        send(ByteBuffer.wrap(payload));
    }

    void sendHeader(byte type, long length) throws IOException {
        if (length > Integer.MAX_VALUE) throw new IOException("A frame of " + length + " bytes is too large.");
        header.clear();
        header.put(type).putInt((int) length).flip();
        send(header);
    }

    int send(ByteBuffer bytes) throws IOException {
        int count = bytes.remaining();
        while (bytes.hasRemaining()) process.channel().write(bytes);
        return count;
    }

    /** Whether something has come that nobody waits for: an error in the middle of a write. */
    boolean hasNews() throws IOException {
        process.channel().configureBlocking(false);
        try {
            header.clear();
            int count = process.channel().read(header);
            if (count == 0) return false;
            if (count < 0) throw new EOFException();
        } finally {
            process.channel().configureBlocking(true);
        }
        readFully(header);
        header.flip();
        header.get();
        payloadLeft = Integer.toUnsignedLong(header.getInt());
        return true;
    }

    /** What to throw when the socket broke: an interrupt stays one, all else is the end of the process. */
    RuntimeException lost(IOException e) {
        if (e instanceof ClosedByInterruptException) {
            close();
            return new UncheckedIOException(e);
        }
        return new LakewardException("BRIDGE", process.epitaph());
    }

    private void readFully(ByteBuffer target) throws IOException {
        while (target.hasRemaining()) {
            if (process.channel().read(target) < 0) throw new EOFException();
        }
    }
}
