package io.lakeward.spark;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.math.BigInteger;

/**
 * A number `digits * 2^exponent` of any size, so that what was added can be taken away again without a trace.
 *
 * <p>A sum of doubles is not: 1e300 + 1 - 1e300 is 0 there.
 */
final class ExactNumber {
    /** Bits of a double with which a quotient is right after rounding: 53, one to round by, and one for the rest. */
    private static final int BITS = 55;

    /** What does not fit the long; both have the same exponent. */
    private BigInteger large = BigInteger.ZERO;
    private long small;
    private int exponent;

    void add(long digits, int exponent, long times) {
        if (digits == 0 || times == 0) return;
        int shift = exponent - align(exponent);
        long product = digits * times;
        if (Math.multiplyHigh(digits, times) != product >> 63 || (product << shift >> shift) != product || shift > 62) {
            large = large.add(BigInteger.valueOf(digits).multiply(BigInteger.valueOf(times)).shiftLeft(shift));
            return;
        }
        product <<= shift;
        long sum = small + product;
        if (((small ^ sum) & (product ^ sum)) < 0) {
            large = large.add(BigInteger.valueOf(small));
            sum = product;
        }
        small = sum;
    }

    void add(BigInteger digits, int exponent, long times) {
        if (digits.signum() == 0 || times == 0) return;
        int shift = exponent - align(exponent);
        large = large.add(digits.multiply(BigInteger.valueOf(times)).shiftLeft(shift));
    }

    /** Makes room for a number of this exponent, and gives the exponent that both have then. */
    private int align(int wanted) {
        if (small == 0 && large.signum() == 0) {
            exponent = wanted;
        } else if (wanted < exponent) {
            large = digits().shiftLeft(exponent - wanted);
            small = 0;
            exponent = wanted;
        }
        return exponent;
    }

    void add(ExactNumber other) {
        add(other.digits(), other.exponent, 1);
    }

    private BigInteger digits() {
        return large.add(BigInteger.valueOf(small));
    }

    /** The number where it is a whole one. */
    BigInteger toWhole() {
        return digits().shiftLeft(exponent);
    }

    /** The double nearest to this number divided by another. */
    double dividedBy(BigInteger divisor) {
        BigInteger top = digits();
        int shift = Math.max(0, BITS + divisor.bitLength() - top.bitLength());
        BigInteger[] parts = top.abs().shiftLeft(shift).divideAndRemainder(divisor);
        int drop = Math.max(0, parts[0].bitLength() - BITS);
        boolean isRest = parts[1].signum() != 0 || (drop > 0 && parts[0].getLowestSetBit() < drop);
        long bits = parts[0].shiftRight(drop).longValueExact() | (isRest ? 1 : 0);
        return top.signum() * scaled(bits, exponent - shift + drop);
    }

    /** A small double, of fewer bits than 53, would be rounded twice: first to 53, then to what is left of them. */
    private static double scaled(long bits, int exponent) {
        int length = Long.SIZE - Long.numberOfLeadingZeros(bits);
        if (length + exponent > Double.MIN_EXPONENT) return Math.scalb((double) bits, exponent);
        int lost = Math.min(62, Math.max(0, Double.MIN_EXPONENT - 52 - exponent));
        long kept = bits >>> lost;
        long rest = bits - (kept << lost);
        long half = lost == 0 ? Long.MAX_VALUE : 1L << (lost - 1);
        if (rest > half || (rest == half && (kept & 1) == 1)) kept++;
        return Math.scalb((double) kept, exponent + lost);
    }

    /** `squares * count - sum^2`: what a variance is made of. */
    static ExactNumber spread(ExactNumber squares, ExactNumber sum, long count) {
        ExactNumber spread = new ExactNumber();
        spread.add(squares.digits(), squares.exponent, count);
        spread.add(sum.digits().pow(2), 2 * sum.exponent, -1);
        return spread;
    }

    void write(DataOutputStream out) throws IOException {
        BigInteger digits = digits();
        int zeros = Math.max(0, digits.getLowestSetBit());
        byte[] bytes = digits.shiftRight(zeros).toByteArray();
        VarInts.write(digits.signum() == 0 ? 0 : exponent + zeros, out);
        VarInts.write(bytes.length, out);
        out.write(bytes);
    }

    static ExactNumber read(DataInputStream in) throws IOException {
        int exponent = (int) VarInts.read(in);
        byte[] bytes = new byte[(int) VarInts.read(in)];
        in.readFully(bytes);
        ExactNumber number = new ExactNumber();
        number.add(new BigInteger(bytes), exponent, 1);
        return number;
    }
}
