package io.lakeward.spark;

import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend;

/** Writes to a table with a primary key: a stream may also send updates, since an upsert replaces the row. */
final class UpsertBuilder extends FlussWriteBuilder implements SupportsStreamingUpdateAsAppend {
    UpsertBuilder(WriteSpec spec) {
        super(spec);
    }
}
