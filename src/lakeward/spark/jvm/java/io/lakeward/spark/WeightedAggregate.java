package io.lakeward.spark;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.types.IntegralType;
import scala.Function1;
import scala.Tuple3;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An aggregate of values and a weight, +1 for a row that came and -1 for one that went, in any order.
 *
 * <p>A row with a NULL in it does not count.
 */
abstract class WeightedAggregate<B> extends TypedImperativeAggregate<B> implements Serializable {
    private static final long serialVersionUID = 1L;

    protected final String name;
    protected final Seq<Expression> arguments;
    private final int mutableOffset;
    private final int inputOffset;
    private transient Expression[] inputs;

    protected WeightedAggregate(String name, Seq<Expression> arguments, int mutableOffset, int inputOffset) {
        this.name = name;
        this.arguments = arguments;
        this.mutableOffset = mutableOffset;
        this.inputOffset = inputOffset;
    }

    static void register(
            SparkSessionExtensions extensions, String name, String usage, Function1<Seq<Expression>, Expression> builder) {
        ExpressionInfo info = new ExpressionInfo(WeightedAggregate.class.getName(), null, name, usage, "");
        extensions.injectFunction(new Tuple3<>(FunctionIdentifier.apply(name), info, builder));
    }

    /** The same with other arguments or another place in the buffer. */
    protected abstract WeightedAggregate<B> copied(Seq<Expression> arguments, int mutableOffset, int inputOffset);

    /** Takes a row in; none of the values is NULL. */
    protected abstract void add(B buffer, Object[] values, long weight);

    /** What is wrong with the values, of which there is the right number. */
    protected abstract TypeCheckResult checkValues();

    protected boolean takesMany() {
        return false;
    }

    @Override
    public TypeCheckResult checkInputDataTypes() {
        int count = arguments.size();
        if (takesMany() ? count < 2 : count != 2) {
            return failure((takesMany() ? "one or more values" : "a value") + " and a weight are expected");
        }
        if (!(arguments.last().dataType() instanceof IntegralType)) return failure("the weight must be a BIGINT");
        return checkValues();
    }

    protected TypeCheckResult failure(String what) {
        return new TypeCheckResult.TypeCheckFailure(name + ": " + what);
    }

    @Override
    public B update(B buffer, InternalRow row) {
        if (inputs == null) inputs = CollectionConverters.asJava(arguments).toArray(new Expression[0]);
        int last = inputs.length - 1;
        Object[] values = new Object[last];
        for (int i = 0; i < last; i++) {
            values[i] = inputs[i].eval(row);
            if (values[i] == null) return buffer;
        }
        Object weight = inputs[last].eval(row);
        if (weight != null) add(buffer, values, ((Number) weight).longValue());
        return buffer;
    }

    @Override
    public String prettyName() {
        return name;
    }

    @Override
    public Seq<Expression> children() {
        return arguments;
    }

    @Override
    public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
        return copied(children, mutableOffset, inputOffset);
    }

    @Override
    public int mutableAggBufferOffset() {
        return mutableOffset;
    }

    @Override
    public ImperativeAggregate withNewMutableAggBufferOffset(int offset) {
        return copied(arguments, offset, inputOffset);
    }

    @Override
    public int inputAggBufferOffset() {
        return inputOffset;
    }

    @Override
    public ImperativeAggregate withNewInputAggBufferOffset(int offset) {
        return copied(arguments, mutableOffset, offset);
    }

    /** The parameters of the constructor, by which Spark copies and compares expressions. */
    protected Object[] parts() {
        return new Object[] {name, arguments, mutableOffset, inputOffset};
    }

    @Override
    public int productArity() {
        return parts().length;
    }

    @Override
    public Object productElement(int index) {
        return parts()[index];
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof WeightedAggregate;
    }

    @Override
    public boolean equals(Object other) {
        return other != null && other.getClass() == getClass()
            && Arrays.equals(parts(), ((WeightedAggregate<?>) other).parts());
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(parts());
    }

    @Override
    public scala.collection.Iterator<Object> stringArgs() {
        return CollectionConverters.asScala(new ArrayList<Object>(CollectionConverters.asJava(arguments)).iterator());
    }
}
