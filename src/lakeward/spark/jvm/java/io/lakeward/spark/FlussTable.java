package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TruncatableTable;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A table, or the changelog or binlog of one, as Python described it. */
class FlussTable implements SupportsRead, SupportsWrite, SupportsRowLevelOperations, TruncatableTable {
    protected final BridgeSettings settings;
    protected final JsonNode described;
    private final StructType schema;

    protected FlussTable(BridgeSettings settings, JsonNode described) {
        this.settings = settings;
        this.described = described;
        this.schema = (StructType) DataType.fromJson(described.get("schema").toString());
    }

    /** The table of that name, `db.table` or `db.table$changelog`; a LakewardException if there is none. */
    static FlussTable load(BridgeSettings settings, String name) {
        ObjectNode arguments = Json.object().put("table", name);
        return of(settings, Bridge.call(settings, "table", arguments));
    }

    static FlussTable of(BridgeSettings settings, JsonNode described) {
        boolean partitioned = !described.get("partitioned_by").isEmpty() && described.get("writable").asBoolean();
        return partitioned ? new PartitionedTable(settings, described) : new FlussTable(settings, described);
    }

    @Override
    public String name() {
        return described.get("name").asText();
    }

    @Override
    public StructType schema() {
        return schema;
    }

    @Override
    public Transform[] partitioning() {
        return Arrays.stream(Json.toTexts(described.get("partitioned_by"))).map(Expressions::identity)
            .toArray(Transform[]::new);
    }

    @Override
    public Map<String, String> properties() {
        return Json.toMap(described.get("properties"));
    }

    @Override
    public Set<TableCapability> capabilities() {
        Set<TableCapability> all = EnumSet.of(TableCapability.BATCH_READ, TableCapability.MICRO_BATCH_READ);
        if (!described.get("writable").asBoolean()) return all;
        all.add(TableCapability.BATCH_WRITE);
        all.add(TableCapability.STREAMING_WRITE);
        all.add(TableCapability.TRUNCATE);
        all.add(TableCapability.OVERWRITE_BY_FILTER);
        all.add(TableCapability.OVERWRITE_DYNAMIC);
        // With these the rows have other columns than the table; Python matches them by name.
        if (settings.option("sink.columns") != null || settings.option("sink.change-type-column") != null) {
            all.add(TableCapability.ACCEPT_ANY_SCHEMA);
        }
        return all;
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
        return new FlussScanBuilder(settings.with(options.asCaseSensitiveMap()), name(), schema);
    }

    @Override
    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
        WriteSpec spec = new WriteSpec(settings.with(writeOptions(info)), name(), info);
        return primaryKey().length > 0 ? new UpsertBuilder(spec) : new FlussWriteBuilder(spec);
    }

    /** The options of a write; one that names some columns of a primary key table keeps the others as they are. */
    protected Map<String, String> writeOptions(LogicalWriteInfo info) {
        Map<String, String> options = new HashMap<>(info.options().asCaseSensitiveMap());
        String given = options.remove(GivenColumns.OPTION);
        if (given == null || primaryKey().length == 0 || info.options().containsKey("sink.columns")) return options;
        List<String> named = new ArrayList<>();
        for (String name : Json.toTexts(Json.parse(given))) named.add(name.toLowerCase(Locale.ROOT));
        List<String> own = Arrays.stream(schema.fieldNames()).filter(name -> named.contains(name.toLowerCase(Locale.ROOT)))
            .collect(Collectors.toList());
        if (own.size() < schema.fieldNames().length) options.put("sink.columns", String.join(",", own));
        return options;
    }

    /** DELETE, UPDATE and MERGE; a LakewardException says which tables cannot have them. */
    @Override
    public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
        ObjectNode arguments = Json.object().put("table", name()).put("command", info.command().name());
        Bridge.call(settings, "row_level", arguments);
        BridgeSettings all = settings.with(info.options().asCaseSensitiveMap());
        return () -> new RowChanges(this, all, info.command());
    }

    /** TRUNCATE TABLE, and DELETE without a condition. */
    @Override
    public boolean truncateTable() {
        return Bridge.call(settings, "truncate", Json.object().put("table", name())).asBoolean();
    }

    String[] primaryKey() {
        return Json.toTexts(described.get("primary_key"));
    }

    @Override
    public String toString() {
        return name();
    }
}
