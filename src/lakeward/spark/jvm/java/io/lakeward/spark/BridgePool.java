package io.lakeward.spark;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The bridges of this JVM that wait for work; those that waited for minutes are closed. */
final class BridgePool {
    private static final long IDLE_MS_MAX = 120_000;
    /** Every stream of a driver asks now and then: fewer than those, and each question would start a process. */
    private static final int IDLE_MAX = Math.max(64, 2 * Runtime.getRuntime().availableProcessors());
    private static final List<Bridge> IDLE = new ArrayList<>();

    static {
        ScheduledExecutorService reaper = Executors.newSingleThreadScheduledExecutor(work -> {
            Thread thread = new Thread(work, "lakeward-bridge-pool");
            thread.setDaemon(true);
            return thread;
        });
        reaper.scheduleWithFixedDelay(() -> close(IDLE_MS_MAX), 30, 30, TimeUnit.SECONDS);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(-1), "lakeward-bridge-end"));
    }

    private BridgePool() {}

    /** A bridge for the caller alone, until it is given back or closed. */
    static Bridge take(String python) throws IOException {
        synchronized (IDLE) {
            // The latest first: its caches are the warmest.
            for (int i = IDLE.size() - 1; i >= 0; i--) {
                if (!IDLE.get(i).python().equals(python)) continue;
                Bridge bridge = IDLE.remove(i);
                if (bridge.isReady()) return bridge;
                bridge.close();
            }
        }
        return new Bridge(python, BridgeProcess.start(python));
    }

    static void giveBack(Bridge bridge) {
        synchronized (IDLE) {
            if (bridge.isAlive() && IDLE.size() < IDLE_MAX) {
                bridge.rest();
                IDLE.add(bridge);
                return;
            }
        }
        bridge.close();
    }

    private static void close(long idleMs) {
        List<Bridge> old = new ArrayList<>();
        synchronized (IDLE) {
            for (Iterator<Bridge> each = IDLE.iterator(); each.hasNext(); ) {
                Bridge bridge = each.next();
                if (bridge.idleMs() <= idleMs) continue;
                each.remove();
                old.add(bridge);
            }
        }
        old.forEach(Bridge::close);
    }
}
