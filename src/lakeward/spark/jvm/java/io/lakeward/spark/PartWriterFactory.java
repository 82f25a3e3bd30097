package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;

/** Makes the writers of tasks on the executors, for batches and for streams. */
final class PartWriterFactory implements DataWriterFactory, StreamingDataWriterFactory {
    private static final long serialVersionUID = 1L;
    private final WriteSpec spec;
    private final String sink;

    PartWriterFactory(WriteSpec spec, JsonNode sink) {
        this.spec = spec;
        this.sink = sink.toString();
    }

    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task) {
        return new PartWriter(spec, Json.parse(sink), 0);
    }

    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task, long batch) {
        return new PartWriter(spec, Json.parse(sink), batch);
    }
}
