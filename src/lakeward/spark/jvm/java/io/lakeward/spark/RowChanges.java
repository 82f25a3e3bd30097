package io.lakeward.spark;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.DeltaBatchWrite;
import org.apache.spark.sql.connector.write.DeltaWrite;
import org.apache.spark.sql.connector.write.DeltaWriteBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.connector.write.SupportsDelta;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A DELETE, UPDATE or MERGE: rows are found by a scan, and changed by their primary key. */
final class RowChanges implements SupportsDelta {
    private final FlussTable table;
    private final BridgeSettings settings;
    private final RowLevelOperation.Command command;

    RowChanges(FlussTable table, BridgeSettings settings, RowLevelOperation.Command command) {
        this.table = table;
        this.settings = settings;
        this.command = command;
    }

    @Override
    public String description() {
        return command + " fluss " + table.name();
    }

    @Override
    public RowLevelOperation.Command command() {
        return command;
    }

    @Override
    public NamedReference[] rowId() {
        return Arrays.stream(table.primaryKey()).map(Expressions::column).toArray(NamedReference[]::new);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        return table.newScanBuilder(options);
    }

    /** A DELETE writes no rows, and so Spark names no columns. */
    @Override
    public DeltaWriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        StructType rows = info.schema().isEmpty()
            ? (StructType) CharVarcharUtils.replaceCharVarcharWithString(table.schema()) : info.schema();
        WriteSpec spec = new WriteSpec(settings.with(info.options().asCaseSensitiveMap()), table.name(), rows, info.queryId());
        KeyColumns key = new KeyColumns(table.name(), table.primaryKey(), rows);
        return new DeltaWriteBuilder() {
            @Override
            public DeltaWrite build() {
                return new DeltaWrite() {
                    @Override
                    public DeltaBatchWrite toBatch() {
                        return new RowChangesWrite(spec, key);
                    }
                };
            }
        };
    }
}
