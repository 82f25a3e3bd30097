package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A table, or the changelog or binlog of one, as Python described it. */
class FlussTable implements SupportsRead, SupportsWrite {
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
        WriteSpec spec = new WriteSpec(settings.with(info.options().asCaseSensitiveMap()), name(), info);
        boolean keyed = !described.get("primary_key").isEmpty();
        return keyed ? new UpsertBuilder(spec) : new FlussWriteBuilder(spec);
    }

    @Override
    public String toString() {
        return name();
    }
}
