package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.constraints.Constraint;
import org.apache.spark.sql.connector.catalog.constraints.PrimaryKey;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** What CREATE and ALTER TABLE say of columns, as JSON. */
final class Columns {
    private Columns() {}

    static JsonNode toJson(Column[] columns) {
        StructType schema = new StructType();
        for (Column column : columns) {
            schema = schema.add(column.name(), column.dataType(), column.nullable());
            if (column.comment() == null) continue;
            StructField[] fields = schema.fields();
            fields[fields.length - 1] = fields[fields.length - 1].withComment(column.comment());
            schema = new StructType(fields);
        }
        return Json.parse(schema.json());
    }

    static ArrayNode identities(Transform[] partitions) {
        List<String> names = new ArrayList<>();
        for (Transform partition : partitions) {
            if (!partition.name().equals("identity") || partition.references()[0].fieldNames().length != 1) {
                throw new LakewardException("UNSUPPORTED", "A table can be partitioned by columns only, not by " + partition + ".");
            }
            names.add(partition.references()[0].fieldNames()[0]);
        }
        return Json.texts(names);
    }

    /** The columns of the primary key; other constraints are refused. */
    static ArrayNode primaryKey(Identifier table, Constraint[] constraints) {
        List<String> names = new ArrayList<>();
        for (Constraint constraint : constraints) {
            if (!(constraint instanceof PrimaryKey)) {
                throw new LakewardException("UNSUPPORTED", "Table " + table + " can have a PRIMARY KEY and no other constraint; "
                    + constraint.name() + " (" + constraint.toDDL() + ") would not be kept.");
            }
            for (NamedReference column : ((PrimaryKey) constraint).columns()) names.add(String.join(".", column.fieldNames()));
        }
        return Json.texts(names);
    }

    static void addChanges(ObjectNode arguments, Identifier table, TableChange... changes) {
        ObjectNode set = arguments.putObject("set");
        ArrayNode reset = arguments.putArray("reset");
        List<Column> added = new ArrayList<>();
        for (TableChange change : changes) {
            if (change instanceof TableChange.SetProperty) {
                TableChange.SetProperty property = (TableChange.SetProperty) change;
                set.put(property.property(), property.value());
            } else if (change instanceof TableChange.RemoveProperty) {
                reset.add(((TableChange.RemoveProperty) change).property());
            } else if (change instanceof TableChange.AddColumn) {
                added.add(added(table, (TableChange.AddColumn) change));
            } else {
                throw new LakewardException("UNSUPPORTED", "Table " + table + " can get new columns and properties; "
                    + change.getClass().getSimpleName() + " is not supported.");
            }
        }
        arguments.set("add_columns", toJson(added.toArray(new Column[0])));
    }

    private static Column added(Identifier table, TableChange.AddColumn change) {
        String name = String.join(".", change.fieldNames());
        if (change.fieldNames().length > 1 || change.position() != null) {
            throw new LakewardException("UNSUPPORTED", "Column " + name + " of " + table
                + " can only be added at the end of the table, without FIRST or AFTER.");
        }
        return Column.create(name, change.dataType(), change.isNullable(), change.comment(), null);
    }
}
