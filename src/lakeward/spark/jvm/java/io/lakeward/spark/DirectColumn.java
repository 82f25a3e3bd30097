package io.lakeward.spark;

import java.util.Set;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.SmallIntVector;
import org.apache.arrow.vector.TimeNanoVector;
import org.apache.arrow.vector.TimeStampMicroTZVector;
import org.apache.arrow.vector.TimeStampMicroVector;
import org.apache.arrow.vector.TinyIntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A column of Arrow read by its addresses. Spark's own class asks objects of many classes for each value, checks each
 * place, and makes a BigDecimal of each decimal.
 */
final class DirectColumn extends ArrowColumnVector {
    private static final Set<Class<?>> KINDS = Set.of(
        TinyIntVector.class, SmallIntVector.class, IntVector.class, BigIntVector.class, Float4Vector.class,
        Float8Vector.class, DateDayVector.class, TimeNanoVector.class, TimeStampMicroVector.class,
        TimeStampMicroTZVector.class, DecimalVector.class, VarCharVector.class);
    private static final int DECIMAL_BYTES = 16;

    private final FieldVector vector;
    /** 0: no value is NULL. */
    private long validity;
    private long values;
    private long offsets;

    private DirectColumn(FieldVector vector) {
        super(vector);
        this.vector = vector;
    }

    /** The column of a vector, in Spark's own way where it is of a kind that is not read here. */
    static ArrowColumnVector of(FieldVector vector) {
        return KINDS.contains(vector.getClass()) ? new DirectColumn(vector) : new ArrowColumnVector(vector);
    }

    /** Look at where the values are, after each time that the vector was filled. */
    void refresh() {
        validity = vector.getNullCount() > 0 ? vector.getValidityBufferAddress() : 0;
        values = vector.getDataBufferAddress();
        offsets = vector instanceof VarCharVector ? vector.getOffsetBufferAddress() : 0;
    }

    @Override
    public boolean isNullAt(int row) {
        return validity != 0 && (Platform.getByte(null, validity + (row >> 3)) >> (row & 7) & 1) == 0;
    }

    @Override
    public byte getByte(int row) {
        return Platform.getByte(null, values + row);
    }

    @Override
    public short getShort(int row) {
        return Platform.getShort(null, values + 2L * row);
    }

    @Override
    public int getInt(int row) {
        return Platform.getInt(null, values + 4L * row);
    }

    @Override
    public long getLong(int row) {
        return Platform.getLong(null, values + 8L * row);
    }

    @Override
    public float getFloat(int row) {
        return Platform.getFloat(null, values + 4L * row);
    }

    @Override
    public double getDouble(int row) {
        return Platform.getDouble(null, values + 8L * row);
    }

    /** Of up to 18 digits the lower half is all there is. */
    @Override
    public Decimal getDecimal(int row, int precision, int scale) {
        if (precision > Decimal.MAX_LONG_DIGITS()) return super.getDecimal(row, precision, scale);
        if (isNullAt(row)) return null;
        return Decimal.createUnsafe(Platform.getLong(null, values + (long) DECIMAL_BYTES * row), precision, scale);
    }

    @Override
    public UTF8String getUTF8String(int row) {
        if (isNullAt(row)) return null;
        int start = Platform.getInt(null, offsets + 4L * row);
        return UTF8String.fromAddress(null, values + start, Platform.getInt(null, offsets + 4L * row + 4) - start);
    }
}
