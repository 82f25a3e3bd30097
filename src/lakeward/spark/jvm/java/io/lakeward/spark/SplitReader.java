package io.lakeward.spark;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** Reads one split: Arrow from the bridge, without a copy, as Spark's columns. */
final class SplitReader implements PartitionReader<ColumnarBatch> {
    private final Bridge bridge;
    private final ArrowFrames frames;
    private final BufferAllocator allocator;
    private final ArrowStreamReader reader;
    private final boolean counting;
    private final Split split;
    private ColumnarBatch batch;
    private long rows;
    private boolean failed;

    SplitReader(ReadSpec spec, Split split) {
        ObjectNode arguments = spec.arguments();
        arguments.set("split", split.json());
        bridge = Bridge.open(spec.settings(), "read", arguments);
        frames = new ArrowFrames(bridge);
        counting = spec.schema().isEmpty();
        this.split = split;
        allocator = Arrows.allocator("read " + spec.table());
        reader = new ArrowStreamReader(frames, allocator);
    }

    @Override
    public boolean next() throws IOException {
        try {
            boolean more = counting ? nextCount() : nextRows();
            if (more) rows += batch.numRows();
            return more;
        } catch (LakewardException e) {
            throw e;
        } catch (IOException e) {
            failed = true;
            throw bridge.lost(e);
        }
    }

    @Override
    public ColumnarBatch get() {
        return batch;
    }

    @Override
    public void close() throws IOException {
        reader.close(false);
        allocator.close();
        if (failed) return;
        try {
            if (!frames.hasEnded()) frames.cancel();
            BridgePool.giveBack(bridge);
        } catch (IOException e) {
            bridge.close();
        }
    }

    @Override
    public CustomTaskMetric[] currentMetricsValues() {
        return new CustomTaskMetric[] {
            new TaskMetric(RowsMetric.NAME, rows),
            new TaskMetric(BytesMetric.NAME, frames.bytes()),
            new TaskMetric(SplitsMetric.NAME, split.count()),
            new TaskMetric(LakeSplitsMetric.NAME, split.count("LAKE_ONLY")),
            new TaskMetric(LogSplitsMetric.NAME, split.count("LOG_ONLY")),
            new TaskMetric(HybridSplitsMetric.NAME, split.count("HYBRID")),
        };
    }

    private boolean nextRows() throws IOException {
        if (!reader.loadNextBatch()) return false;
        if (batch == null) batch = new ColumnarBatch(columns(reader.getVectorSchemaRoot().getFieldVectors()));
        for (int i = 0; i < batch.numCols(); i++) {
            if (batch.column(i) instanceof DirectColumn) ((DirectColumn) batch.column(i)).refresh();
        }
        batch.setNumRows(reader.getVectorSchemaRoot().getRowCount());
        return true;
    }

    /** Without columns only numbers of rows come. */
    private boolean nextCount() throws IOException {
        int count = frames.nextCount();
        if (count < 0) return false;
        if (batch == null) batch = new ColumnarBatch(new ColumnVector[0]);
        batch.setNumRows(count);
        return true;
    }

    private static ColumnVector[] columns(List<FieldVector> vectors) {
        return vectors.stream().map(DirectColumn::of).toArray(ColumnVector[]::new);
    }
}
