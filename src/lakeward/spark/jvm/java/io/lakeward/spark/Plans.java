package io.lakeward.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.collection.Iterator;

/** What is done to nodes of Spark's plans. */
final class Plans {
    private Plans() {}

    /** By its parts and not by its constructor, which has more of them with each version of Spark. */
    static LogicalPlan copied(LogicalPlan plan, UnaryOperator<Object> change) {
        List<Object> parts = new ArrayList<>();
        for (Iterator<Object> each = plan.productIterator(); each.hasNext(); ) parts.add(change.apply(each.next()));
        return plan.makeCopy(parts.toArray());
    }
}
