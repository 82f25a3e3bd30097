package io.lakeward.spark;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.types.DataType;

/** A multiset as the bytes of a state: version, hash of the type's name, how many values, then value and count each. */
final class MultisetFormat {
    private static final int VERSION = 1;

    private final String function;
    private final DataType type;
    private final ValueFormat values;
    private final long sizeMax;

    MultisetFormat(String function, DataType type, long sizeMax) {
        this.function = function;
        this.type = type;
        this.values = ValueFormat.of(type);
        this.sizeMax = sizeMax;
    }

    ValueFormat values() {
        return values;
    }

    void checkSize(long size) {
        if (size <= sizeMax) return;
        throw new LakewardException("INVALID_CONFIG", String.format(
            "%s holds more than %,d different values in one group, the limit that %s sets; group by more columns, or "
                + "raise it: all values of a group that changes are written with each micro-batch.",
            function, sizeMax, MultisetAggregate.SIZE_MAX));
    }

    byte[] write(Map<Object, Long> counts) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(16 + 10 * counts.size());
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeInt(typeHash());
            VarInts.write(counts.size(), out);
            for (Map.Entry<Object, Long> each : counts.entrySet()) {
                values.write(each.getKey(), out);
                VarInts.write(each.getValue(), out);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    Map<Object, Long> read(byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            if (in.readByte() != VERSION) throw other("in a format of another version of Lakeward");
            if (in.readInt() != typeHash()) throw other("of another type than " + type.catalogString());
            int size = (int) VarInts.read(in);
            Map<Object, Long> counts = new HashMap<>(size * 4 / 3 + 1);
            for (int i = 0; i < size; i++) counts.put(values.read(in), VarInts.read(in));
            return counts;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private LakewardException other(String what) {
        return new LakewardException("INVALID_CONFIG",
            "The state of " + function + " holds values " + what + "; begin with a new checkpoint.");
    }

    /** Spark sees only bytes in the state, so that it cannot tell a changed type by itself. */
    private int typeHash() {
        return type.catalogString().hashCode();
    }
}
