package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.PartitionsAlreadyExistException;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.SupportsPartitionManagement;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** A table whose partitions can be shown, added and dropped; their values are texts, since they name partitions. */
final class PartitionedTable extends FlussTable implements SupportsPartitionManagement {
    private final StructType partitionSchema;

    PartitionedTable(BridgeSettings settings, JsonNode described) {
        super(settings, described);
        StructType chosen = new StructType();
        for (String name : Json.toTexts(described.get("partitioned_by"))) chosen = chosen.add(name, DataTypes.StringType);
        this.partitionSchema = chosen;
    }

    @Override
    public StructType partitionSchema() {
        return partitionSchema;
    }

    @Override
    public void createPartition(InternalRow row, Map<String, String> properties)
            throws PartitionsAlreadyExistException {
        try {
            Bridge.call(settings, "create_partition", named(row));
        } catch (LakewardException e) {
            if (!e.is("PARTITION_ALREADY_EXISTS")) throw e;
            throw new PartitionsAlreadyExistException(name(), row, partitionSchema);
        }
    }

    @Override
    public boolean dropPartition(InternalRow row) {
        return Bridge.call(settings, "drop_partition", named(row)).asBoolean();
    }

    @Override
    public boolean truncatePartition(InternalRow row) {
        Bridge.call(settings, "truncate_partition", named(row));
        return true;
    }

    @Override
    public void replacePartitionMetadata(InternalRow row, Map<String, String> properties) {
        throw new UnsupportedOperationException("Partitions of " + name() + " have no properties.");
    }

    @Override
    public Map<String, String> loadPartitionMetadata(InternalRow row) {
        return Map.of();
    }

    @Override
    public InternalRow[] listPartitionIdentifiers(String[] names, InternalRow values) {
        ObjectNode arguments = named(names, values);
        List<InternalRow> rows = new ArrayList<>();
        for (JsonNode partition : Bridge.call(settings, "partitions", arguments)) rows.add(row(partition));
        return rows.toArray(new InternalRow[0]);
    }

    private ObjectNode named(InternalRow row) {
        return named(partitionSchema.fieldNames(), row);
    }

    private ObjectNode named(String[] names, InternalRow row) {
        ObjectNode arguments = Json.object().put("table", name());
        ObjectNode spec = arguments.putObject("spec");
        for (int i = 0; i < names.length; i++) spec.put(names[i], row.getString(i));
        return arguments;
    }

    private static InternalRow row(JsonNode texts) {
        Object[] values = new Object[texts.size()];
        for (int i = 0; i < values.length; i++) values[i] = UTF8String.fromString(texts.get(i).asText());
        return new GenericInternalRow(values);
    }
}
