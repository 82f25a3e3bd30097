package io.lakeward.spark;

import java.util.Map;
import org.apache.spark.SparkThrowable;

/**
 * What went wrong, as one sentence; PySpark shows it as an IllegalArgumentException with that sentence only.
 *
 * <p>A SparkThrowable, because Spark wraps other exceptions into its own, with longer messages.
 */
public final class LakewardException extends IllegalArgumentException implements SparkThrowable {
    private static final long serialVersionUID = 1L;
    private final String code;

    LakewardException(String code, String message) {
        super(message);
        this.code = code;
    }

    /** The name of the error in lakeward.errors.ErrorCode, for example TABLE_NOT_EXIST. */
    public String code() {
        return code;
    }

    /** Spark looks messages up by condition; this is its own one for messages that come from outside. */
    @Override
    public String getCondition() {
        return "USER_RAISED_EXCEPTION";
    }

    @Override
    public Map<String, String> getMessageParameters() {
        return Map.of("errorMessage", getMessage());
    }

    /** The call was made in Java, the mistake was not: a trace of this side says nothing. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }

    boolean is(String other) {
        return code.equals(other);
    }
}
