package io.lakeward.spark;

import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.util.TypeUtils;
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.math.Ordering;

/** lakeward_min, lakeward_max, lakeward_count_distinct: of the values whose weights have a sum above 0. */
public final class MultisetAggregate extends WeightedAggregate<Multiset> {
    static final String SIZE_MAX = "spark.lakeward.aggregate.values.max";
    private static final String SIZE_MAX_DEFAULT = "1000000";
    private static final String MIN = "lakeward_min";
    private static final String MAX = "lakeward_max";
    private static final String COUNT_DISTINCT = "lakeward_count_distinct";
    private static final long serialVersionUID = 1L;

    private final long sizeMax;
    private transient MultisetFormat format;

    public MultisetAggregate(String name, Seq<Expression> arguments, int mutableOffset, int inputOffset, long sizeMax) {
        super(name, arguments, mutableOffset, inputOffset);
        this.sizeMax = sizeMax;
    }

    static void register(SparkSessionExtensions extensions) {
        for (String name : List.of(MIN, MAX, COUNT_DISTINCT)) {
            String values = name.equals(COUNT_DISTINCT) ? "(value, ..., weight)" : "(value, weight)";
            register(extensions, name, name + values + ": of the values whose weights have a sum above 0",
                arguments -> new MultisetAggregate(name, arguments, 0, 0, configuredSizeMax()));
        }
    }

    private static long configuredSizeMax() {
        String text = SQLConf.get().getConfString(SIZE_MAX, SIZE_MAX_DEFAULT);
        if (text.matches("[1-9][0-9]{0,8}")) return Long.parseLong(text);
        throw new LakewardException("INVALID_CONFIG",
            SIZE_MAX + " must be a number from 1 to 999999999, not '" + text + "'.");
    }

    @Override
    protected MultisetAggregate copied(Seq<Expression> arguments, int mutableOffset, int inputOffset) {
        return new MultisetAggregate(name, arguments, mutableOffset, inputOffset, sizeMax);
    }

    @Override
    protected Object[] parts() {
        return new Object[] {name, arguments, mutableAggBufferOffset(), inputAggBufferOffset(), sizeMax};
    }

    @Override
    protected boolean takesMany() {
        return name.equals(COUNT_DISTINCT);
    }

    @Override
    protected TypeCheckResult checkValues() {
        if (name.equals(COUNT_DISTINCT)) {
            if (valueType().existsRecursively(each -> each instanceof MapType)) {
                return failure("maps cannot be compared; give map_entries(value), sorted by array_sort");
            }
            if (!UnsafeRowUtils.isBinaryStable(valueType())) {
                return failure("equal strings of this collation differ in their bytes; give collation_key(value)");
            }
        }
        return TypeUtils.checkForOrderingExpr(valueType(), name);
    }

    /** The type of what is counted: of several values, a struct. */
    private DataType valueType() {
        if (arguments.size() == 2) return arguments.head().dataType();
        StructType type = new StructType();
        for (int i = 0; i < arguments.size() - 1; i++) type = type.add("v" + i, arguments.apply(i).dataType());
        return type;
    }

    private MultisetFormat format() {
        if (format == null) format = new MultisetFormat(name, valueType(), sizeMax);
        return format;
    }

    @Override
    public Multiset createAggregationBuffer() {
        return new Multiset(format(), null);
    }

    @Override
    protected void add(Multiset buffer, Object[] values, long weight) {
        Object value = values.length == 1 ? values[0] : new GenericInternalRow(values);
        buffer.add(format().values().key(value), weight);
    }

    @Override
    public Multiset merge(Multiset buffer, Multiset other) {
        return buffer.plus(other);
    }

    @Override
    public Object eval(Multiset buffer) {
        Map<Object, Long> counts = buffer.counts();
        if (name.equals(COUNT_DISTINCT)) return counts.values().stream().filter(count -> count > 0).count();
        Ordering<Object> ordering = TypeUtils.getInterpretedOrdering(valueType());
        int sign = name.equals(MIN) ? 1 : -1;
        ValueFormat values = format().values();
        Object best = null;
        for (Map.Entry<Object, Long> each : counts.entrySet()) {
            if (each.getValue() <= 0) continue;
            Object value = values.value(each.getKey());
            if (best == null || sign * ordering.compare(value, best) < 0) best = value;
        }
        return best;
    }

    @Override
    public byte[] serialize(Multiset buffer) {
        return buffer.toBytes();
    }

    @Override
    public Multiset deserialize(byte[] bytes) {
        return new Multiset(format(), bytes);
    }

    @Override
    public DataType dataType() {
        return name.equals(COUNT_DISTINCT) ? DataTypes.LongType : arguments.head().dataType();
    }

    @Override
    public boolean nullable() {
        return !name.equals(COUNT_DISTINCT);
    }

    @Override
    public Option<Literal> defaultResult() {
        return name.equals(COUNT_DISTINCT) ? Option.apply(new Literal(0L, DataTypes.LongType)) : Option.empty();
    }
}
