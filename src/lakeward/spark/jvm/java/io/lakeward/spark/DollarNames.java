package io.lakeward.spark;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Puts backticks around names like orders$changelog, but not in strings, comments or quoted names. */
final class DollarNames {
    /** Either something to leave alone, or (group 1) a name that ends in $lake, $changelog or $binlog. */
    private static final Pattern PIECES = Pattern.compile(
        "'(?:[^'\\\\]|\\\\.)*+'|\"(?:[^\"\\\\]|\\\\.)*+\"|`[^`]*+`|--[^\\n]*+|/\\*.*?\\*/|\\$\\$.*?\\$\\$"
            + "|((?<![\\w$])\\w+\\$(?:lake|changelog|binlog)(?![\\w$]))",
        Pattern.DOTALL | Pattern.CASE_INSENSITIVE);

    private DollarNames() {}

    static String quote(String sql) {
        if (sql.indexOf('$') < 0) return sql;
        Matcher pieces = PIECES.matcher(sql);
        StringBuilder quoted = new StringBuilder();
        while (pieces.find()) {
            String piece = pieces.group(1) != null ? "`" + pieces.group(1) + "`" : pieces.group();
            pieces.appendReplacement(quoted, Matcher.quoteReplacement(piece));
        }
        return pieces.appendTail(quoted).toString();
    }
}
