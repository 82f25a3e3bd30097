package io.lakeward.spark;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** Whole numbers in as few bytes as they need, seven bits in each, the sign in the lowest one. */
final class VarInts {
    private VarInts() {}

    static void write(long count, DataOutputStream out) throws IOException {
        long rest = (count << 1) ^ (count >> 63);
        for (; (rest & ~0x7FL) != 0; rest >>>= 7) out.writeByte((int) (rest & 0x7F) | 0x80);
        out.writeByte((int) rest);
    }

    static long read(DataInputStream in) throws IOException {
        long all = 0;
        for (int shift = 0; ; shift += 7) {
            byte part = in.readByte();
            all |= (part & 0x7FL) << shift;
            if (part >= 0) return (all >>> 1) ^ -(all & 1);
        }
    }
}
