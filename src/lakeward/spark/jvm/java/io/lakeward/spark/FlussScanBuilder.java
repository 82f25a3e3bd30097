package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownLimit;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsPushDownV2Filters;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.types.StructType;

/** Collects what Spark pushes down: columns, filters, a limit. */
final class FlussScanBuilder
        implements ScanBuilder, SupportsPushDownRequiredColumns, SupportsPushDownV2Filters, SupportsPushDownLimit {
    private final BridgeSettings settings;
    private final String table;
    private final ArrayNode filters = Json.array();
    private final List<Predicate> pushed = new ArrayList<>();
    private final StructType whole;
    private StructType schema;
    private Integer limit;

    FlussScanBuilder(BridgeSettings settings, String table, StructType schema) {
        this.settings = settings;
        this.table = table;
        this.whole = (StructType) CharVarcharUtils.replaceCharVarcharWithString(schema);
        this.schema = whole;
    }

    /** Columns are left out as a whole: one of which fields are wanted comes with all its fields. */
    @Override
    public void pruneColumns(StructType required) {
        StructType chosen = new StructType();
        for (String name : required.fieldNames()) chosen = chosen.add(whole.apply(name));
        schema = chosen;
    }

    /** All predicates come back: the server may skip rows, Spark decides about each one. */
    @Override
    public Predicate[] pushPredicates(Predicate[] predicates) {
        for (Predicate predicate : predicates) {
            Optional<JsonNode> json = Filters.toJson(predicate);
            if (json.isEmpty()) continue;
            filters.add(json.get());
            pushed.add(predicate);
        }
        return predicates;
    }

    @Override
    public Predicate[] pushedPredicates() {
        return pushed.toArray(new Predicate[0]);
    }

    @Override
    public boolean pushLimit(int rows) {
        limit = rows;
        return true;
    }

    @Override
    public boolean isPartiallyPushed() {
        return true;
    }

    @Override
    public Scan build() {
        ObjectNode request = Json.object();
        request.set("filters", filters);
        request.put("limit", limit);
        double share = (8.0 + schema.defaultSize()) / (8.0 + whole.defaultSize());
        return new FlussScan(new ReadSpec(settings, table, schema, request), share, false);
    }
}
