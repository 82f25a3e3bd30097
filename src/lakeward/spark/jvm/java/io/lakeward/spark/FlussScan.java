package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.OptionalLong;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/** One read of a table: planned by Python once, then read split by split. */
final class FlussScan implements Scan, Batch, SupportsReportStatistics {
    private final ReadSpec spec;
    private final double share;
    private JsonNode plan;
    private boolean streaming;

    /** `share` is what the columns of the spec are of whole rows, in bytes. */
    FlussScan(ReadSpec spec, double share, boolean streaming) {
        this.spec = spec;
        this.share = share;
        this.streaming = streaming;
    }

    @Override
    public StructType readSchema() {
        return spec.schema();
    }

    /** What EXPLAIN shows; a stream has no plan before it runs. */
    @Override
    public String description() {
        return "fluss " + spec.table() + (streaming ? " (stream)" : " (" + plan().path("description").asText() + ")");
    }

    @Override
    public Batch toBatch() {
        return this;
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpoint) {
        streaming = true;
        return new FlussStream(spec);
    }

    @Override
    public InputPartition[] planInputPartitions() {
        return Split.of(plan().get("splits"));
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new SplitReaderFactory(spec);
    }

    @Override
    public ColumnarSupportMode columnarSupportMode() {
        return ColumnarSupportMode.SUPPORTED;
    }

    @Override
    public CustomMetric[] supportedCustomMetrics() {
        return new CustomMetric[] {
            new RowsMetric(),
            new BytesMetric(),
            new SplitsMetric(),
            new LakeSplitsMetric(),
            new LogSplitsMetric(),
            new HybridSplitsMetric(),
        };
    }

    /** The size is what Spark takes its own files for, as stored, so that the same tables are broadcast. */
    @Override
    public Statistics estimateStatistics() {
        JsonNode rows = plan().path("rows");
        JsonNode stored = plan().path("bytes");
        long rowBytes = 8L + spec.schema().defaultSize();
        return new Statistics() {
            @Override
            public OptionalLong sizeInBytes() {
                if (!rows.isNumber()) return OptionalLong.empty();
                long size = rows.asLong() * rowBytes;
                if (stored.isNumber()) size = Math.min(size, (long) (stored.asLong() * share));
                return OptionalLong.of(Math.max(1, size));
            }

            @Override
            public OptionalLong numRows() {
                return rows.isNumber() ? OptionalLong.of(rows.asLong()) : OptionalLong.empty();
            }
        };
    }

    private synchronized JsonNode plan() {
        if (plan == null) {
            ObjectNode arguments = spec.arguments();
            arguments.put("parallelism", Sessions.parallelism());
            plan = Bridge.call(spec.settings(), "plan", arguments);
        }
        return plan;
    }
}
