package io.lakeward.spark;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** What a task has staged; opaque to Java. */
final class Part implements WriterCommitMessage {
    private static final long serialVersionUID = 1L;
    private final byte[] bytes;

    Part(byte[] bytes) {
        this.bytes = bytes;
    }

    byte[] bytes() {
        return bytes;
    }

    /** The parts of the tasks that came so far. */
    static List<byte[]> bytes(WriterCommitMessage[] messages) {
        return Arrays.stream(messages).filter(Objects::nonNull).map(message -> ((Part) message).bytes)
            .collect(Collectors.toList());
    }
}
