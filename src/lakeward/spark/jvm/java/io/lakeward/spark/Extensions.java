package io.lakeward.spark;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.SparkSessionExtensionsProvider;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.runtime.BoxedUnit;

/** spark.sql.extensions: names like `shop.orders$changelog` without backticks; writes and streams of some columns. */
public final class Extensions implements SparkSessionExtensionsProvider {
    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        extensions.injectParser(Extensions::watching);
        extensions.injectHintResolutionRule(GivenColumns::new);
        extensions.injectPreCBORule(session -> new PrunedStreams());
        MultisetAggregate.register(extensions);
        SumAggregate.register(extensions);
        return BoxedUnit.UNIT;
    }

    /** A proxy and not a class: the parser's interface is Spark's own and grows from version to version. */
    private static ParserInterface watching(SparkSession session, ParserInterface parser) {
        return (ParserInterface) Proxy.newProxyInstance(
            Extensions.class.getClassLoader(), interfaces(parser.getClass()), (proxy, method, arguments) -> {
                if (arguments != null) {
                    for (int i = 0; i < arguments.length; i++) {
                        if (arguments[i] instanceof String) arguments[i] = DollarNames.quote((String) arguments[i]);
                    }
                }
                try {
                    Object parsed = method.invoke(parser, arguments);
                    if (parsed instanceof LogicalPlan) ExplicitFormat.check(session, (LogicalPlan) parsed);
                    return parsed;
                } catch (InvocationTargetException e) {
                    throw e.getCause();
                }
            });
    }

    private static Class<?>[] interfaces(Class<?> type) {
        Set<Class<?>> all = new LinkedHashSet<>();
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Class<?> inner : each.getInterfaces()) all.add(inner);
        }
        all.removeIf(each -> !java.lang.reflect.Modifier.isPublic(each.getModifiers()));
        return all.toArray(new Class<?>[0]);
    }
}
