package io.lakeward.spark;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.UnresolvedIdentifier;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.TableSpecBase;
import scala.collection.Iterator;

/**
 * Refuses CREATE TABLE … USING parquet in our catalog.
 *
 * <p>Only SQL says USING: saveAsTable and toTable give the session's default format, whether it was meant or not, and
 * so the catalog lets that one pass.
 */
final class ExplicitFormat {
    private ExplicitFormat() {}

    static void check(SparkSession session, LogicalPlan plan) {
        TableSpecBase spec = null;
        UnresolvedIdentifier name = null;
        for (Iterator<Object> parts = plan.productIterator(); parts.hasNext(); ) {
            Object part = parts.next();
            if (part instanceof TableSpecBase) spec = (TableSpecBase) part;
            if (part instanceof UnresolvedIdentifier && name == null) name = (UnresolvedIdentifier) part;
        }
        if (spec == null || name == null || spec.provider().isEmpty()) return;
        String format = spec.provider().get();
        if (format.equalsIgnoreCase("fluss") || !OwnNames.contains(session, name.nameParts())) return;
        throw new LakewardException("INVALID_TABLE",
            "Table " + name.nameParts().mkString(".") + " cannot be made USING " + format + "; leave USING out.");
    }
}
