package io.lakeward.spark;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running `python -m lakeward.spark.bridge` and the socket to it. */
final class BridgeProcess {
    private static final Logger LOG = LoggerFactory.getLogger("io.lakeward.spark.bridge");
    private static final int SOCKET_PATH_MAX = 100;
    private static final int LAST_WORDS = 20;

    private final Process process;
    private final SocketChannel channel;
    private final Deque<String> lastWords;

    private BridgeProcess(Process process, SocketChannel channel, Deque<String> lastWords) {
        this.process = process;
        this.channel = channel;
        this.lastWords = lastWords;
    }

    static BridgeProcess start(String python) throws IOException {
        Path directory = privateDirectory();
        Path path = directory.resolve("bridge");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(path));
            Process process = launch(python, path);
            Deque<String> lastWords = new ArrayDeque<>();
            Thread errors = followErrors(process, lastWords);
            process.onExit().thenRun(() -> closeQuietly(server));
            try {
                return new BridgeProcess(process, server.accept(), lastWords);
            } catch (IOException e) {
                process.destroyForcibly();
                if (Thread.currentThread().isInterrupted()) throw e;
                joinQuietly(errors);
                throw new LakewardException("BRIDGE", notStarted(python, lastWords));
            }
        } finally {
            Files.deleteIfExists(path);
            Files.deleteIfExists(directory);
        }
    }

    SocketChannel channel() {
        return channel;
    }

    boolean isAlive() {
        return process.isAlive() && channel.isOpen();
    }

    void close() {
        closeQuietly(channel);
        try {
            if (!process.waitFor(100, TimeUnit.MILLISECONDS)) process.destroy();
        } catch (InterruptedException e) {
            process.destroy();
            Thread.currentThread().interrupt();
        }
    }

    /** Why the process is gone, in its own last words if it had any. */
    String epitaph() {
        closeQuietly(channel);
        try {
            if (!process.waitFor(2, TimeUnit.SECONDS)) process.destroyForcibly();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        String how = process.isAlive() ? "stopped answering" : "ended with exit code " + process.exitValue();
        String last = lastOf(lastWords);
        return "The Python process " + process.pid() + " of Lakeward " + how + (last.isEmpty() ? "." : ": " + last);
    }

    private static Process launch(String python, Path path) {
        try {
            ProcessBuilder builder = new ProcessBuilder(python, "-m", "lakeward.spark.bridge", path.toString());
            builder.redirectOutput(ProcessBuilder.Redirect.DISCARD);
            Process process = builder.start();
            process.getOutputStream().close();
            return process;
        } catch (IOException e) {
            throw new LakewardException("BRIDGE", "Python could not be started as '" + python
                + "'; set spark.pyspark.python or spark.sql.catalog.<name>.python to one that has lakeward installed.");
        }
    }

    private static String notStarted(String python, Deque<String> lastWords) {
        String last = lastOf(lastWords);
        return "The Lakeward process could not be started with '" + python + "'" + (last.isEmpty() ? "" : " (" + last + ")")
            + "; set spark.pyspark.python or spark.sql.catalog.<name>.python to a Python that has lakeward installed.";
    }

    private static Path privateDirectory() throws IOException {
        var onlyMe = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        Path directory = Files.createTempDirectory("lakeward-", onlyMe);
        if (directory.toString().length() < SOCKET_PATH_MAX) return directory;
        Files.delete(directory);
        return Files.createTempDirectory(Path.of("/tmp"), "lakeward-", onlyMe);
    }

    private static Thread followErrors(Process process, Deque<String> lastWords) {
        Thread thread = new Thread(() -> {
            try (var lines = new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    LOG.warn("{}", line);
                    synchronized (lastWords) {
                        lastWords.addLast(line);
                        if (lastWords.size() > LAST_WORDS) lastWords.removeFirst();
                    }
                }
            } catch (IOException e) {
                LOG.debug("The error stream of process {} broke", process.pid(), e);
            }
        }, "lakeward-bridge-" + process.pid());
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static String lastOf(Deque<String> lastWords) {
        synchronized (lastWords) {
            return lastWords.isEmpty() ? "" : lastWords.getLast().strip();
        }
    }

    private static void joinQuietly(Thread thread) {
        try {
            thread.join(1000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
        } catch (Exception e) {
            LOG.debug("Closing failed", e);
        }
    }
}
