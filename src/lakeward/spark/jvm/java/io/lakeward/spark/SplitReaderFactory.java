package io.lakeward.spark;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** Makes the readers of splits on the executors; rows always come in columns. */
final class SplitReaderFactory implements PartitionReaderFactory {
    private static final long serialVersionUID = 1L;
    private final ReadSpec spec;

    SplitReaderFactory(ReadSpec spec) {
        this.spec = spec;
    }

    @Override
    public boolean supportColumnarReads(InputPartition split) {
        return true;
    }

    @Override
    public PartitionReader<ColumnarBatch> createColumnarReader(InputPartition split) {
        return new SplitReader(spec, (Split) split);
    }

    @Override
    public PartitionReader<InternalRow> createReader(InputPartition split) {
        throw new UnsupportedOperationException("Splits are read in columns.");
    }
}
