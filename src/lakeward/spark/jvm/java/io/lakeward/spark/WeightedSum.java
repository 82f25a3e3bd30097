package io.lakeward.spark;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;

/** How many values are there and what they add up to; those that add up to nothing else are counted apart. */
final class WeightedSum {
    /** Not that of a multiset: a query that changed from one to the other would read its bytes. */
    private static final int VERSION = 2;

    long count;
    long nans;
    long infinities;
    long negativeInfinities;
    final ExactNumber sum;
    final ExactNumber squares;

    WeightedSum() {
        this(new ExactNumber(), new ExactNumber());
    }

    private WeightedSum(ExactNumber sum, ExactNumber squares) {
        this.sum = sum;
        this.squares = squares;
    }

    void add(long value, long weight) {
        count = Math.addExact(count, weight);
        sum.add(value, 0, weight);
    }

    void add(BigInteger value, long weight) {
        count = Math.addExact(count, weight);
        sum.add(value, 0, weight);
    }

    void add(double value, long weight, boolean withSquares) {
        count = Math.addExact(count, weight);
        if (Double.isNaN(value)) {
            nans = Math.addExact(nans, weight);
        } else if (value == Double.POSITIVE_INFINITY) {
            infinities = Math.addExact(infinities, weight);
        } else if (value == Double.NEGATIVE_INFINITY) {
            negativeInfinities = Math.addExact(negativeInfinities, weight);
        } else {
            int exponent = Math.max(Math.getExponent(value), Double.MIN_EXPONENT) - 52;
            long digits = (long) Math.scalb(value, -exponent);
            sum.add(digits, exponent, weight);
            if (withSquares) squares.add(BigInteger.valueOf(digits).pow(2), 2 * exponent, weight);
        }
    }

    void add(WeightedSum other) {
        count = Math.addExact(count, other.count);
        nans = Math.addExact(nans, other.nans);
        infinities = Math.addExact(infinities, other.infinities);
        negativeInfinities = Math.addExact(negativeInfinities, other.negativeInfinities);
        sum.add(other.sum);
        squares.add(other.squares);
    }

    boolean isFinite() {
        return nans <= 0 && infinities <= 0 && negativeInfinities <= 0;
    }

    double toDouble() {
        if (nans > 0 || (infinities > 0 && negativeInfinities > 0)) return Double.NaN;
        if (infinities > 0) return Double.POSITIVE_INFINITY;
        return negativeInfinities > 0 ? Double.NEGATIVE_INFINITY : sum.dividedBy(BigInteger.ONE);
    }

    byte[] toBytes(int layout) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(VERSION);
            out.writeByte(layout);
            for (long each : new long[] {count, nans, infinities, negativeInfinities}) VarInts.write(each, out);
            sum.write(out);
            squares.write(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    static WeightedSum of(byte[] bytes, int layout, String function) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            if (in.readByte() != VERSION || in.readByte() != layout) {
                throw new LakewardException("INVALID_CONFIG", "The state of " + function + " holds another aggregate or "
                    + "values of another type; begin with a new checkpoint.");
            }
            long[] counts = new long[4];
            for (int i = 0; i < counts.length; i++) counts[i] = VarInts.read(in);
            WeightedSum all = new WeightedSum(ExactNumber.read(in), ExactNumber.read(in));
            all.count = counts[0];
            all.nans = counts[1];
            all.infinities = counts[2];
            all.negativeInfinities = counts[3];
            return all;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
