package io.lakeward.spark;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** Where the primary key is in the rows of a table. */
final class KeyColumns implements Serializable {
    private static final long serialVersionUID = 1L;
    private final String table;
    private final String[] names;
    private final int[] positions;
    private final DataType[] types;

    KeyColumns(String table, String[] names, StructType rows) {
        this.table = table;
        this.names = names;
        this.positions = Arrays.stream(names).mapToInt(rows::fieldIndex).toArray();
        this.types = Arrays.stream(names).map(name -> rows.apply(name).dataType()).toArray(DataType[]::new);
    }

    /** Refuse a row that has another key than the one it is to replace. */
    void check(InternalRow id, InternalRow row) {
        for (int i = 0; i < names.length; i++) {
            Object before = id.get(i, types[i]);
            Object after = row.isNullAt(positions[i]) ? null : row.get(positions[i], types[i]);
            if (before instanceof byte[] ? Arrays.equals((byte[]) before, (byte[]) after) : Objects.equals(before, after)) continue;
            throw new LakewardException("UNSUPPORTED", "Column '" + names[i] + "' is in the primary key of table " + table
                + " and cannot be updated, from " + before + " to " + after + "; DELETE the row and INSERT it anew.");
        }
    }
}
