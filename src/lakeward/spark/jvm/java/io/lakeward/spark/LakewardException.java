package io.lakeward.spark;

/** What went wrong, as one sentence; PySpark shows it as an IllegalArgumentException with that sentence only. */
public final class LakewardException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;
    private final String code;

    LakewardException(String code, String message) {
        super(message);
        this.code = code;
        setStackTrace(new StackTraceElement[0]);
    }

    /** The name of the error in lakeward.errors.ErrorCode, for example TABLE_NOT_EXIST. */
    public String code() {
        return code;
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
