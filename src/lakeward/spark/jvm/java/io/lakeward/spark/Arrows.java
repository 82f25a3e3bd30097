package io.lakeward.spark;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/** Where the memory of Arrow columns comes from. */
final class Arrows {
    private static final RootAllocator ROOT = new RootAllocator(Long.MAX_VALUE);

    private Arrows() {}

    static BufferAllocator allocator(String name) {
        return ROOT.newChildAllocator(name, 0, Long.MAX_VALUE);
    }
}
