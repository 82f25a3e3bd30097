package io.lakeward.spark;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.types.StructType;

/** What to read of which table; travels to the executors. */
final class ReadSpec implements Serializable {
    private static final long serialVersionUID = 1L;
    private final BridgeSettings settings;
    private final String table;
    private final StructType schema;
    private final String request;

    ReadSpec(BridgeSettings settings, String table, StructType schema, ObjectNode request) {
        this.settings = settings;
        this.table = table;
        this.schema = schema;
        this.request = request.toString();
    }

    /** The same with these columns of it. */
    ReadSpec only(String... columns) {
        StructType chosen = new StructType();
        for (String name : columns) chosen = chosen.add(schema.apply(name));
        return new ReadSpec(settings, table, chosen, (ObjectNode) Json.parse(request));
    }

    BridgeSettings settings() {
        return settings;
    }

    String table() {
        return table;
    }

    StructType schema() {
        return schema;
    }

    /** The arguments of a call that reads: the table, the columns, and what was pushed down. */
    ObjectNode arguments() {
        ObjectNode arguments = (ObjectNode) Json.parse(request);
        arguments.put("table", table);
        arguments.set("columns", Json.texts(List.of(schema.fieldNames())));
        return arguments;
    }
}
