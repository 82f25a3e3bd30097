package io.lakeward.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Tells a table which columns a write names, before Spark fills the others with NULL.
 *
 * <p>INSERT INTO t (id, name) and writeTo(t) with fewer columns than t has are partial updates of a primary key table.
 */
final class GivenColumns extends Rule<LogicalPlan> {
    /** The option by which they travel; the table takes it out. */
    static final String OPTION = "lakeward.given.columns";

    private final SparkSession session;

    GivenColumns(SparkSession session) {
        this.session = session;
    }

    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        if (plan instanceof InsertIntoStatement) return insert((InsertIntoStatement) plan);
        if (plan instanceof V2WriteCommand) return write((V2WriteCommand) plan);
        return plan;
    }

    private LogicalPlan insert(InsertIntoStatement plan) {
        if (!isOurs(plan.table()) || (plan.userSpecifiedCols().isEmpty() && !plan.byName())) return plan;
        List<String> columns = plan.byName()
            ? outputOf(plan.query()) : new ArrayList<>(CollectionConverters.asJava(plan.userSpecifiedCols()));
        if (columns == null) return plan;
        columns.addAll(CollectionConverters.asJava(plan.partitionSpec().keySet()));
        // By its parts and not by its constructor, which has more of them with each version of Spark.
        List<Object> parts = new ArrayList<>();
        for (Iterator<Object> each = plan.productIterator(); each.hasNext(); ) {
            Object part = each.next();
            parts.add(part == plan.table() ? told((UnresolvedRelation) part, columns) : part);
        }
        return plan.makeCopy(parts.toArray());
    }

    private LogicalPlan write(V2WriteCommand plan) {
        if (!plan.isByName() || !isOurs((LogicalPlan) plan.table()) || !plan.query().resolved()) return (LogicalPlan) plan;
        return (LogicalPlan) plan.withNewTable(told((UnresolvedRelation) plan.table(), names(plan.query())));
    }

    private boolean isOurs(LogicalPlan table) {
        if (!(table instanceof UnresolvedRelation)) return false;
        UnresolvedRelation named = (UnresolvedRelation) table;
        return !named.options().containsKey(OPTION) && OwnNames.contains(session, named.multipartIdentifier());
    }

    /** The columns of a query that is not analyzed yet; null if it is wrong, which Spark says better. */
    private List<String> outputOf(LogicalPlan query) {
        try {
            var state = ((org.apache.spark.sql.classic.SparkSession) session).sessionState();
            return names(state.analyzer().execute(query));
        } catch (Exception e) {
            if (!(e instanceof AnalysisException)) throw e;
            return null;
        }
    }

    private static List<String> names(LogicalPlan query) {
        List<String> names = new ArrayList<>();
        for (Iterator<Attribute> each = query.output().iterator(); each.hasNext(); ) names.add(each.next().name());
        return names;
    }

    private static UnresolvedRelation told(UnresolvedRelation table, List<String> columns) {
        Map<String, String> options = new HashMap<>(table.options().asCaseSensitiveMap());
        options.put(OPTION, Json.texts(columns).toString());
        return new UnresolvedRelation(table.multipartIdentifier(), new CaseInsensitiveStringMap(options), table.isStreaming());
    }
}
