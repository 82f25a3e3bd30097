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
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Tells a table which columns a write names, before Spark fills the others with NULL.
 *
 * <p>INSERT INTO t (id, name), and a DataFrame with fewer columns than t, are partial updates of a primary key table.
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
        LogicalPlan told = plan;
        if (plan instanceof InsertIntoStatement) told = insert((InsertIntoStatement) plan);
        if (plan instanceof V2WriteCommand) told = write((V2WriteCommand) plan);
        return told.fastEquals(plan) ? plan : told;
    }

    private LogicalPlan insert(InsertIntoStatement plan) {
        if (!isOurs(plan.table()) || (plan.userSpecifiedCols().isEmpty() && !plan.byName())) return plan;
        List<String> columns = plan.byName()
            ? outputOf(plan.query()) : new ArrayList<>(CollectionConverters.asJava(plan.userSpecifiedCols()));
        if (columns == null) return plan;
        columns.addAll(CollectionConverters.asJava(plan.partitionSpec().keySet()));
        UnresolvedRelation table = (UnresolvedRelation) plan.table();
        return Plans.copied(plan, part -> part == table ? Plans.copied(table, each -> told(each, columns)) : part);
    }

    /** A DataFrame's write has its options in the command, and either in the table too or there alone. */
    private LogicalPlan write(V2WriteCommand command) {
        LogicalPlan plan = (LogicalPlan) command;
        LogicalPlan table = (LogicalPlan) command.table();
        if (!command.isByName() || !command.query().resolved() || !(isOurs(table) || isLoaded(table))) return plan;
        List<String> columns = names(command.query());
        return Plans.copied(plan, part -> {
            if (part == table) return hasOptions(table) ? Plans.copied(table, each -> told(each, columns)) : table;
            return part instanceof scala.collection.immutable.Map ? told((scala.collection.immutable.Map<?, ?>) part, columns) : part;
        });
    }

    private boolean isOurs(LogicalPlan table) {
        return table instanceof UnresolvedRelation
            && OwnNames.contains(session, ((UnresolvedRelation) table).multipartIdentifier());
    }

    /** save() and saveAsTable() bring the table with them. */
    private static boolean isLoaded(LogicalPlan table) {
        return table instanceof DataSourceV2Relation && ((DataSourceV2Relation) table).table() instanceof FlussTable;
    }

    private static boolean hasOptions(LogicalPlan table) {
        var options = table instanceof UnresolvedRelation
            ? ((UnresolvedRelation) table).options() : ((DataSourceV2Relation) table).options();
        return options.keySet().stream().anyMatch(key -> !key.equals(UnresolvedRelation.REQUIRED_WRITE_PRIVILEGES()));
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

    private static Object told(Object part, List<String> columns) {
        if (!(part instanceof CaseInsensitiveStringMap)) return part;
        Map<String, String> all = new HashMap<>(((CaseInsensitiveStringMap) part).asCaseSensitiveMap());
        all.put(OPTION, Json.texts(columns).toString());
        return new CaseInsensitiveStringMap(all);
    }

    @SuppressWarnings("unchecked")
    private static Object told(scala.collection.immutable.Map<?, ?> options, List<String> columns) {
        return ((scala.collection.immutable.Map<String, String>) options).updated(OPTION, Json.texts(columns).toString());
    }
}
