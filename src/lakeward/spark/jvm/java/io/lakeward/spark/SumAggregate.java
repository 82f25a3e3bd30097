package io.lakeward.spark;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.NumericType;
import scala.collection.immutable.Seq;

/** lakeward_sum, lakeward_avg and the four of the variance, of the types that Spark's own have; sums are exact. */
public final class SumAggregate extends WeightedAggregate<WeightedSum> {
    private static final String SUM = "lakeward_sum";
    private static final String AVG = "lakeward_avg";
    private static final List<String> SPREADS =
        List.of("lakeward_var_pop", "lakeward_var_samp", "lakeward_stddev_pop", "lakeward_stddev_samp");
    private static final int PRECISION_MAX = 38;
    /** In the state, instead of a scale. */
    private static final int OF_DOUBLES = 64;
    private static final int WITH_SQUARES = 65;
    private static final long serialVersionUID = 1L;

    private final boolean isSpread;

    public SumAggregate(String name, Seq<Expression> arguments, int mutableOffset, int inputOffset) {
        super(name, arguments, mutableOffset, inputOffset);
        isSpread = SPREADS.contains(name);
    }

    static void register(SparkSessionExtensions extensions) {
        register(extensions, SUM);
        register(extensions, AVG);
        SPREADS.forEach(name -> register(extensions, name));
    }

    private static void register(SparkSessionExtensions extensions, String name) {
        register(extensions, name, name + "(value, weight): of each value as often as its weight says",
            arguments -> new SumAggregate(name, arguments, 0, 0));
    }

    @Override
    protected SumAggregate copied(Seq<Expression> arguments, int mutableOffset, int inputOffset) {
        return new SumAggregate(name, arguments, mutableOffset, inputOffset);
    }

    @Override
    protected TypeCheckResult checkValues() {
        if (valueType() instanceof NumericType) return TypeCheckResult.TypeCheckSuccess$.MODULE$;
        return failure("the value must be a number, not " + valueType().catalogString());
    }

    private DataType valueType() {
        return arguments.head().dataType();
    }

    private int layout() {
        if (isSpread) return WITH_SQUARES;
        if (valueType() instanceof DecimalType) return ((DecimalType) valueType()).scale();
        return valueType() instanceof IntegralType ? 0 : OF_DOUBLES;
    }

    @Override
    public DataType dataType() {
        if (valueType() instanceof DecimalType && !isSpread) {
            DecimalType type = (DecimalType) valueType();
            return name.equals(SUM) ? bounded(type.precision() + 10, type.scale())
                : bounded(type.precision() + 4, type.scale() + 4);
        }
        return name.equals(SUM) && valueType() instanceof IntegralType ? DataTypes.LongType : DataTypes.DoubleType;
    }

    private static DecimalType bounded(int precision, int scale) {
        return new DecimalType(Math.min(precision, PRECISION_MAX), Math.min(scale, PRECISION_MAX));
    }

    @Override
    public boolean nullable() {
        return true;
    }

    @Override
    public WeightedSum createAggregationBuffer() {
        return new WeightedSum();
    }

    @Override
    protected void add(WeightedSum buffer, Object[] values, long weight) {
        Object value = values[0];
        if (isSpread) {
            double number = value instanceof Decimal ? ((Decimal) value).toDouble() : ((Number) value).doubleValue();
            buffer.add(number, weight, true);
        } else if (value instanceof Decimal) {
            BigInteger digits = ValueFormat.digits((Decimal) value, layout());
            if (digits.bitLength() < Long.SIZE) buffer.add(digits.longValue(), weight);
            else buffer.add(digits, weight);
        } else if (valueType() instanceof IntegralType) {
            buffer.add(((Number) value).longValue(), weight);
        } else {
            buffer.add(((Number) value).doubleValue(), weight, false);
        }
    }

    @Override
    public WeightedSum merge(WeightedSum buffer, WeightedSum other) {
        buffer.add(other);
        return buffer;
    }

    @Override
    public Object eval(WeightedSum buffer) {
        if (buffer.count <= 0) return null;
        if (isSpread) return spread(buffer);
        BigInteger count = BigInteger.valueOf(buffer.count);
        if (valueType() instanceof DecimalType) return decimal(buffer, count);
        if (!(valueType() instanceof IntegralType)) {
            return name.equals(SUM) ? buffer.toDouble() : buffer.toDouble() / buffer.count;
        }
        if (name.equals(AVG)) return buffer.sum.dividedBy(count);
        BigInteger sum = buffer.sum.toWhole();
        if (sum.bitLength() >= Long.SIZE) throw overflow(sum.toString());
        return sum.longValue();
    }

    private Decimal decimal(WeightedSum buffer, BigInteger count) {
        DecimalType type = (DecimalType) dataType();
        BigDecimal sum = new BigDecimal(buffer.sum.toWhole(), ((DecimalType) valueType()).scale());
        BigDecimal result =
            name.equals(SUM) ? sum : sum.divide(new BigDecimal(count), type.scale(), RoundingMode.HALF_UP);
        if (result.precision() > type.precision()) throw overflow(result.toPlainString());
        return Decimal.apply(result, type.precision(), type.scale());
    }

    private Double spread(WeightedSum buffer) {
        boolean isSample = name.endsWith("_samp");
        if (isSample && buffer.count == 1) return null;
        if (!buffer.isFinite()) return Double.NaN;
        BigInteger count = BigInteger.valueOf(buffer.count);
        BigInteger divisor = count.multiply(isSample ? count.subtract(BigInteger.ONE) : count);
        double variance = ExactNumber.spread(buffer.squares, buffer.sum, buffer.count).dividedBy(divisor);
        return name.startsWith("lakeward_std") ? Math.sqrt(variance) : variance;
    }

    private LakewardException overflow(String result) {
        return new LakewardException("INVALID_CONFIG", name + " is " + result + ", which does not fit "
            + dataType().catalogString() + "; cast the value to a type with room for it, such as DECIMAL(38, 0) or DOUBLE.");
    }

    @Override
    public byte[] serialize(WeightedSum buffer) {
        return buffer.toBytes(layout());
    }

    @Override
    public WeightedSum deserialize(byte[] bytes) {
        return WeightedSum.of(bytes, layout(), name);
    }
}
