package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/** Spark's predicates as the JSON of lakeward.query.filters; what has no such form is left to Spark. */
final class Filters {
    private static final Map<String, String> COMPARISONS = Map.of(
        "=", "=", "<=>", "<=>", "<>", "<>", "<", "<", "<=", "<=", ">", ">", ">=", ">=",
        "STARTS_WITH", "starts_with", "ENDS_WITH", "ends_with", "CONTAINS", "contains");
    private static final Map<String, String> MIRRORED = Map.of(
        "=", "=", "<=>", "<=>", "<>", "<>", "<", ">", "<=", ">=", ">", "<", ">=", "<=");

    private Filters() {}

    static Optional<JsonNode> toJson(Expression predicate) {
        if (!(predicate instanceof Predicate)) return Optional.empty();
        String name = ((Predicate) predicate).name();
        Expression[] parts = predicate.children();
        switch (name) {
            case "AND": case "OR": case "NOT":
                return combined(name.toLowerCase(), parts);
            case "IS_NULL": case "IS_NOT_NULL":
                return column(parts[0]).map(column -> Json.object().put("op", name.toLowerCase()).put("column", column));
            case "IN":
                return in(parts);
            default:
                return parts.length == 2 ? comparison(name, parts[0], parts[1]) : Optional.empty();
        }
    }

    private static Optional<JsonNode> combined(String op, Expression[] parts) {
        ArrayNode inner = Json.array();
        for (Expression part : parts) {
            Optional<JsonNode> json = toJson(part);
            if (json.isEmpty()) return Optional.empty();
            inner.add(json.get());
        }
        ObjectNode node = Json.object().put("op", op);
        if (op.equals("not")) node.set("child", inner.get(0));
        else node.set("children", inner);
        return Optional.of(node);
    }

    private static Optional<JsonNode> in(Expression[] parts) {
        Optional<String> column = column(parts[0]);
        ArrayNode values = Json.array();
        for (int i = 1; i < parts.length; i++) {
            Optional<JsonNode> value = literal(parts[i]);
            if (value.isEmpty()) return Optional.empty();
            values.add(value.get());
        }
        return column.map(name -> Json.object().put("op", "in").put("column", name).set("values", values));
    }

    private static Optional<JsonNode> comparison(String name, Expression left, Expression right) {
        if (left instanceof Literal && MIRRORED.containsKey(name)) return comparison(MIRRORED.get(name), right, left);
        String op = COMPARISONS.get(name);
        Optional<String> column = column(left);
        Optional<JsonNode> value = literal(right);
        if (op == null || column.isEmpty() || value.isEmpty()) return Optional.empty();
        return Optional.of(Json.object().put("op", op).put("column", column.get()).set("value", value.get()));
    }

    private static Optional<String> column(Expression expression) {
        if (!(expression instanceof NamedReference)) return Optional.empty();
        String[] names = ((NamedReference) expression).fieldNames();
        return names.length == 1 ? Optional.of(names[0]) : Optional.empty();
    }

    private static Optional<JsonNode> literal(Expression expression) {
        if (!(expression instanceof Literal)) return Optional.empty();
        Object value = ((Literal<?>) expression).value();
        DataType type = ((Literal<?>) expression).dataType();
        ObjectNode holder = Json.object();
        if (value == null) return Optional.empty();
        if (type instanceof StringType) holder.put("value", value.toString());
        else if (type instanceof BooleanType) holder.put("value", (Boolean) value);
        else if (type instanceof DecimalType) return typed("decimal", plain(value));
        else if (type instanceof DateType) return typed("date", LocalDate.ofEpochDay((Integer) value).toString());
        else if (type instanceof TimestampType) return typed("timestamp", (Long) value);
        else if (type instanceof TimestampNTZType) return typed("timestamp_ntz", (Long) value);
        else if (type instanceof BinaryType) return typed("binary", Base64.getEncoder().encodeToString((byte[]) value));
        else if (type instanceof DoubleType || type instanceof FloatType) {
            double number = ((Number) value).doubleValue();
            if (!Double.isFinite(number)) return Optional.empty();
            holder.put("value", number);
        } else if (value instanceof Byte || value instanceof Short || value instanceof Integer || value instanceof Long) {
            if (type.typeName().startsWith("interval") || type.typeName().startsWith("time")) return Optional.empty();
            holder.put("value", ((Number) value).longValue());
        } else return Optional.empty();
        return Optional.of(holder.get("value"));
    }

    private static String plain(Object value) {
        BigDecimal number = value instanceof Decimal ? ((Decimal) value).toJavaBigDecimal() : (BigDecimal) value;
        return number.toPlainString();
    }

    private static Optional<JsonNode> typed(String type, Object value) {
        ObjectNode node = Json.object().put("type", type);
        if (value instanceof Long) node.put("value", (Long) value);
        else node.put("value", (String) value);
        return Optional.of(node);
    }
}
