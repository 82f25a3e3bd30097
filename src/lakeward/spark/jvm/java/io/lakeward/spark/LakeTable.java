package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.EnumSet;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;

/** What the lake knows of a table, such as shop.orders.snapshots: few rows, which Python has sent with the columns. */
final class LakeTable implements SupportsRead {
    private final JsonNode told;
    private final StructType schema;

    LakeTable(JsonNode told) {
        this.told = told;
        this.schema = (StructType) DataType.fromJson(told.get("schema").toString());
    }

    @Override
    public String name() {
        return told.get("name").asText();
    }

    @Override
    public StructType schema() {
        return schema;
    }

    @Override
    public Set<TableCapability> capabilities() {
        return EnumSet.of(TableCapability.BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        return () -> new LocalScan() {
            @Override
            public StructType readSchema() {
                return schema;
            }

            @Override
            public InternalRow[] rows() {
                InternalRow[] rows = new InternalRow[told.get("rows").size()];
                for (int i = 0; i < rows.length; i++) rows[i] = row(told.get("rows").get(i));
                return rows;
            }
        };
    }

    private InternalRow row(JsonNode values) {
        StructField[] fields = schema.fields();
        Object[] row = new Object[fields.length];
        for (int i = 0; i < row.length; i++) row[i] = value(values.get(i), fields[i].dataType());
        return new GenericInternalRow(row);
    }

    private static Object value(JsonNode value, DataType type) {
        if (value.isNull()) return null;
        if (type.equals(DataTypes.StringType)) return UTF8String.fromString(value.asText());
        if (type.equals(DataTypes.BooleanType)) return value.asBoolean();
        return type.equals(DataTypes.IntegerType) ? (Object) value.asInt() : (Object) value.asLong();
    }
}
