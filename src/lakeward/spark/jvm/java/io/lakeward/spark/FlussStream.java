package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.CompositeReadLimit;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxBytes;
import org.apache.spark.sql.connector.read.streaming.ReadMaxRows;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;

/** A table read as a stream, micro-batch by micro-batch; Python knows the offsets, Spark keeps them. */
final class FlussStream implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics {
    private final ReadSpec spec;
    private final FlussStream origin;
    private JsonNode settings;
    private String until;
    private String newest;
    private String groupHas;

    FlussStream(ReadSpec spec) {
        this.spec = spec;
        this.origin = this;
    }

    private FlussStream(ReadSpec spec, FlussStream origin) {
        this.spec = spec;
        this.origin = origin;
    }

    /** The same stream for a micro-batch that reads only these columns. */
    FlussStream only(String... columns) {
        return new FlussStream(spec.only(columns), origin);
    }

    /** What Spark plans it with. */
    FlussScan scan() {
        return new FlussScan(spec, 1, true);
    }

    /** Spark counts the rows of a stream by what is equal to it, and keeps the whole one. */
    @Override
    public boolean equals(Object other) {
        return other instanceof FlussStream && ((FlussStream) other).origin == origin;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(origin);
    }

    @Override
    public Offset initialOffset() {
        groupHas = call("stream.initial", spec.arguments());
        return new FlussOffset(groupHas);
    }

    @Override
    public Offset latestOffset() {
        throw new UnsupportedOperationException("Spark asks with a limit.");
    }

    /** Everything before `start` is written, so the group is told here: commit comes late, for a last batch never. */
    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        tellGroup(start.json());
        ObjectNode arguments = spec.arguments();
        arguments.set("start", Json.parse(start.json()));
        arguments.set("until", until == null ? null : Json.parse(until));
        addLimits(arguments, limit);
        var answer = Bridge.call(spec.settings(), "stream.latest", arguments);
        newest = answer.get("newest").toString();
        return new FlussOffset(answer.get("end").toString());
    }

    @Override
    public ReadLimit getDefaultReadLimit() {
        List<ReadLimit> limits = new ArrayList<>();
        if (settings().hasNonNull("rows")) limits.add(ReadLimit.maxRows(settings().get("rows").asLong()));
        if (settings().hasNonNull("bytes")) limits.add(ReadLimit.maxBytes(settings().get("bytes").asLong()));
        if (limits.isEmpty()) return ReadLimit.allAvailable();
        return limits.size() == 1 ? limits.get(0) : ReadLimit.compositeLimit(limits.toArray(new ReadLimit[0]));
    }

    @Override
    public Offset reportLatestOffset() {
        return newest == null ? null : new FlussOffset(newest);
    }

    @Override
    public void prepareForTriggerAvailableNow() {
        until = call("stream.head", spec.arguments());
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        ObjectNode arguments = spec.arguments();
        arguments.put("parallelism", Sessions.parallelism());
        arguments.set("start", Json.parse(start.json()));
        arguments.set("end", Json.parse(end.json()));
        return Split.of(Bridge.call(spec.settings(), "stream.plan", arguments));
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new SplitReaderFactory(spec);
    }

    @Override
    public Map<String, String> metrics(Optional<Offset> consumed) {
        if (consumed.isEmpty()) return Map.of();
        ObjectNode arguments = spec.arguments();
        arguments.set("offset", Json.parse(consumed.get().json()));
        return Json.toMap(Bridge.call(spec.settings(), "stream.metrics", arguments));
    }

    @Override
    public Offset deserializeOffset(String json) {
        return new FlussOffset(json);
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}

    private void tellGroup(String offset) {
        if (offset.equals(groupHas) || !settings().get("commits").asBoolean()) return;
        ObjectNode arguments = spec.arguments();
        arguments.set("offset", Json.parse(offset));
        Bridge.call(spec.settings(), "stream.commit", arguments);
        groupHas = offset;
    }

    private synchronized JsonNode settings() {
        if (settings == null) settings = Bridge.call(spec.settings(), "stream.settings", spec.arguments());
        return settings;
    }

    /** What progress reports call the source. */
    @Override
    public String toString() {
        return "fluss " + spec.table();
    }

    private String call(String name, ObjectNode arguments) {
        return Bridge.call(spec.settings(), name, arguments).toString();
    }

    private static void addLimits(ObjectNode arguments, ReadLimit limit) {
        if (limit instanceof CompositeReadLimit) {
            for (ReadLimit each : ((CompositeReadLimit) limit).getReadLimits()) addLimits(arguments, each);
        } else if (limit instanceof ReadMaxRows) {
            arguments.put("rows", ((ReadMaxRows) limit).maxRows());
        } else if (limit instanceof ReadMaxBytes) {
            arguments.put("bytes", ((ReadMaxBytes) limit).maxBytes());
        }
    }
}
