package io.lakeward.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Streams read the columns that a micro-batch uses; Spark tells only bounded scans which these are.
 *
 * <p>Spark takes two scans of one stream for the same, whatever their columns. So all of them in a plan get the same:
 * those that any of them needs.
 */
final class PrunedStreams extends Rule<LogicalPlan> {
    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        Map<FlussStream, Set<String>> used = new HashMap<>();
        collect(plan, null, used);
        return used.isEmpty() ? plan : pruned(plan, used);
    }

    /** Notes the columns of each stream that what is above it refers to; null if that is all of them. */
    private static void collect(LogicalPlan plan, AttributeSet above, Map<FlussStream, Set<String>> used) {
        if (isOurs(plan)) {
            var relation = (StreamingDataSourceV2ScanRelation) plan;
            Set<String> names = used.computeIfAbsent((FlussStream) relation.stream(), stream -> new HashSet<>());
            for (AttributeReference each : CollectionConverters.asJava(columns(relation))) {
                if (above == null || above.contains(each)) names.add(each.name());
            }
            return;
        }
        AttributeSet needed = null;
        if (plan instanceof Project) needed = plan.references();
        if (plan instanceof Filter && above != null) needed = above.$plus$plus(plan.references());
        for (LogicalPlan child : CollectionConverters.asJava(plan.children())) collect(child, needed, used);
    }

    private static LogicalPlan pruned(LogicalPlan plan, Map<FlussStream, Set<String>> used) {
        if (!isOurs(plan)) return plan.mapChildren(child -> pruned(child, used));
        var relation = (StreamingDataSourceV2ScanRelation) plan;
        FlussStream stream = (FlussStream) relation.stream();
        List<AttributeReference> kept = new ArrayList<>(CollectionConverters.asJava(columns(relation)));
        if (!kept.removeIf(each -> !used.get(stream).contains(each.name()))) return plan;
        String[] names = kept.stream().map(AttributeReference::name).toArray(String[]::new);
        FlussStream narrow = stream.only(names);
        return Plans.copied(relation, part -> {
            if (part instanceof Scan) return narrow.scan();
            if (part == stream) return narrow;
            return part instanceof Seq ? CollectionConverters.asScala(kept).toList() : part;
        });
    }

    private static boolean isOurs(LogicalPlan plan) {
        return plan instanceof StreamingDataSourceV2ScanRelation
            && ((StreamingDataSourceV2ScanRelation) plan).stream() instanceof FlussStream;
    }

    private static Seq<AttributeReference> columns(StreamingDataSourceV2ScanRelation relation) {
        return relation.output();
    }
}
