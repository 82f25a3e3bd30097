package io.lakeward.spark;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.types.StructType;

/** Which rows are written to which table, and how; travels to the executors. */
final class WriteSpec implements Serializable {
    private static final long serialVersionUID = 1L;
    private final BridgeSettings settings;
    private final String table;
    private final String schema;
    private final String queryId;

    WriteSpec(BridgeSettings settings, String table, LogicalWriteInfo info) {
        this(settings, table, info.schema(), info.queryId());
    }

    WriteSpec(BridgeSettings settings, String table, StructType schema, String queryId) {
        this.settings = settings;
        this.table = table;
        this.schema = schema.json();
        this.queryId = queryId;
    }

    BridgeSettings settings() {
        return settings;
    }

    String table() {
        return table;
    }

    String queryId() {
        return queryId;
    }

    /** The arguments every call of a write has: the table and the columns of the rows. */
    ObjectNode arguments() {
        ObjectNode arguments = Json.object().put("table", table);
        arguments.set("schema", Json.parse(schema));
        return arguments;
    }
}
