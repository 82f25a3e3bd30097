package io.lakeward.spark;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers$;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The values of one type as keys of a map, and as bytes of a state that later versions read too.
 *
 * <p>A key is a value that equals what SQL holds equal: -0.0 is 0.0, NaN is NaN. What has no such class, bytes, arrays
 * and structs, is a row of one column, as Spark groups by.
 */
abstract class ValueFormat {
    /** A key of its own: the value may stand in memory that the next row takes. */
    abstract Object key(Object value);

    /** The value that a key stands for. */
    Object value(Object key) {
        return key;
    }

    abstract void write(Object key, DataOutputStream out) throws IOException;

    abstract Object read(DataInputStream in) throws IOException;

    static ValueFormat of(DataType type) {
        if (type instanceof BooleanType) {
            return simple((key, out) -> out.writeBoolean((Boolean) key), DataInputStream::readBoolean);
        }
        if (type instanceof ByteType) return simple((key, out) -> out.writeByte((Byte) key), DataInputStream::readByte);
        if (type instanceof ShortType) {
            return simple((key, out) -> out.writeShort((Short) key), DataInputStream::readShort);
        }
        if (type instanceof IntegerType || type instanceof DateType) {
            return simple((key, out) -> out.writeInt((Integer) key), DataInputStream::readInt);
        }
        if (type instanceof LongType || type instanceof TimestampType || type instanceof TimestampNTZType) {
            return simple((key, out) -> out.writeLong((Long) key), DataInputStream::readLong);
        }
        if (type instanceof FloatType) return new Floats();
        if (type instanceof DoubleType) return new Doubles();
        if (type instanceof DecimalType) return decimals((DecimalType) type);
        return type instanceof StringType ? new Strings() : new Rows(type);
    }

    private static ValueFormat decimals(DecimalType type) {
        int precision = type.precision();
        int scale = type.scale();
        if (precision <= Decimal.MAX_LONG_DIGITS()) {
            return simple((key, out) -> out.writeLong(digits((Decimal) key, scale).longValueExact()),
                in -> Decimal.apply(in.readLong(), precision, scale));
        }
        return simple((key, out) -> writeBytes(digits((Decimal) key, scale).toByteArray(), out),
            in -> Decimal.apply(new BigDecimal(new BigInteger(readBytes(in)), scale), precision, scale));
    }

    /** The whole number that a decimal of this scale is made of. */
    static BigInteger digits(Decimal value, int scale) {
        return value.toJavaBigDecimal().setScale(scale).unscaledValue();
    }

    private interface Writing {
        void write(Object key, DataOutputStream out) throws IOException;
    }

    private interface Reading {
        Object read(DataInputStream in) throws IOException;
    }

    /** Objects that never change and are equal as SQL has it. */
    private static ValueFormat simple(Writing writing, Reading reading) {
        return new ValueFormat() {
            @Override
            Object key(Object value) {
                return value;
            }

            @Override
            void write(Object key, DataOutputStream out) throws IOException {
                writing.write(key, out);
            }

            @Override
            Object read(DataInputStream in) throws IOException {
                return reading.read(in);
            }
        };
    }

    private static final class Floats extends ValueFormat {
        @Override
        Object key(Object value) {
            return (Float) value == 0.0f ? (Object) 0.0f : value;
        }

        @Override
        void write(Object key, DataOutputStream out) throws IOException {
            out.writeFloat((Float) key);
        }

        @Override
        Object read(DataInputStream in) throws IOException {
            return in.readFloat();
        }
    }

    private static final class Doubles extends ValueFormat {
        @Override
        Object key(Object value) {
            return (Double) value == 0.0 ? (Object) 0.0 : value;
        }

        @Override
        void write(Object key, DataOutputStream out) throws IOException {
            out.writeDouble((Double) key);
        }

        @Override
        Object read(DataInputStream in) throws IOException {
            return in.readDouble();
        }
    }

    private static final class Strings extends ValueFormat {
        @Override
        Object key(Object value) {
            return ((UTF8String) value).copy();
        }

        @Override
        void write(Object key, DataOutputStream out) throws IOException {
            writeBytes(((UTF8String) key).getBytes(), out);
        }

        @Override
        Object read(DataInputStream in) throws IOException {
            return UTF8String.fromBytes(readBytes(in));
        }
    }

    private static final class Rows extends ValueFormat {
        private final DataType type;
        private final UnsafeProjection projection;

        Rows(DataType type) {
            this.type = type;
            var column = new BoundReference(0, type, true);
            projection = UnsafeProjection.create(NormalizeFloatingNumbers$.MODULE$.normalize(column));
        }

        @Override
        Object key(Object value) {
            return projection.apply(new GenericInternalRow(new Object[] {value})).copy();
        }

        @Override
        Object value(Object key) {
            return ((UnsafeRow) key).get(0, type);
        }

        @Override
        void write(Object key, DataOutputStream out) throws IOException {
            writeBytes(((UnsafeRow) key).getBytes(), out);
        }

        @Override
        Object read(DataInputStream in) throws IOException {
            byte[] bytes = readBytes(in);
            UnsafeRow row = new UnsafeRow(1);
            row.pointTo(bytes, bytes.length);
            return row;
        }
    }

    private static void writeBytes(byte[] bytes, DataOutputStream out) throws IOException {
        VarInts.write(bytes.length, out);
        out.write(bytes);
    }

    private static byte[] readBytes(DataInputStream in) throws IOException {
        byte[] bytes = new byte[(int) VarInts.read(in)];
        in.readFully(bytes);
        return bytes;
    }
}
