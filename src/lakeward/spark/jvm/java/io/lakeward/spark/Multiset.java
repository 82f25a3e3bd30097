package io.lakeward.spark;

import java.util.HashMap;
import java.util.Map;

/**
 * How often each value is there: inserts minus retractions, below zero while a retraction waits for its insert.
 *
 * <p>One that comes out of a state stays bytes until somebody looks into it: most are only passed on.
 */
final class Multiset {
    private final MultisetFormat format;
    private byte[] bytes;
    private Map<Object, Long> counts;

    Multiset(MultisetFormat format, byte[] bytes) {
        this.format = format;
        this.bytes = bytes;
        this.counts = bytes == null ? new HashMap<>() : null;
    }

    void add(Object key, long weight) {
        if (weight == 0) return;
        Map<Object, Long> counts = counts();
        Long before = counts.get(key);
        long after = before == null ? weight : Math.addExact(before, weight);
        if (after == 0) {
            counts.remove(key);
        } else {
            if (before == null) format.checkSize(counts.size() + 1);
            counts.put(key, after);
        }
        bytes = null;
    }

    /** The sum of two; the larger one takes the other in. */
    Multiset plus(Multiset other) {
        if (isEmpty()) return other;
        if (other.isEmpty()) return this;
        boolean isLarger = counts().size() >= other.counts().size();
        Multiset large = isLarger ? this : other;
        (isLarger ? other : this).counts.forEach(large::add);
        return large;
    }

    Map<Object, Long> counts() {
        if (counts == null) counts = format.read(bytes);
        return counts;
    }

    byte[] toBytes() {
        if (bytes == null) bytes = format.write(counts);
        return bytes;
    }

    private boolean isEmpty() {
        return counts != null && counts.isEmpty();
    }
}
