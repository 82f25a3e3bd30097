import java.math.BigDecimal;
import java.sql.*;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** Takes steps at a database by JDBC and prints what came of each: `step: answer`. */
public class JdbcReader {
    interface Step {
        Object take(Connection conn) throws Exception;
    }

    static String rows(ResultSet rows, String... columns) throws SQLException {
        List<String> found = new ArrayList<>();
        while (rows.next()) {
            List<String> row = new ArrayList<>();
            for (String column : columns) row.add(rows.getString(column));
            found.add(String.join("/", row));
        }
        rows.close();
        return String.join(" ", found);
    }

    static long one(PreparedStatement asked) throws SQLException {
        try (ResultSet rows = asked.executeQuery()) {
            rows.next();
            return rows.getLong(1);
        }
    }

    static String typed(Connection conn, String db) throws SQLException {
        String sql = "SELECT id FROM " + db + ".orders WHERE price = ? AND \"at\" = ? AND day = ? AND ok = ? "
            + "AND weight = ? AND seen = ? AND item = ?";
        try (PreparedStatement asked = conn.prepareStatement(sql)) {
            Timestamp at = Timestamp.valueOf("2026-11-01 10:00:00.12");
            asked.setBigDecimal(1, new BigDecimal("8.50"));
            asked.setTimestamp(2, at);
            asked.setDate(3, Date.valueOf("2026-11-01"));
            asked.setBoolean(4, true);
            asked.setDouble(5, 2.0);
            asked.setTimestamp(6, at);
            asked.setString(7, "item 8");
            return asked.getParameterMetaData().getParameterCount() + " " + one(asked);
        }
    }

    static String repeated(Connection conn, String db) throws SQLException {
        long sum = 0;
        try (PreparedStatement asked = conn.prepareStatement("SELECT id FROM " + db + ".orders WHERE id = ?")) {
            for (long n = 0; n < 10; n++) {
                asked.setLong(1, n);
                sum += one(asked);
            }
        }
        return "" + sum;
    }

    static String parts(Connection conn, String db) throws SQLException {
        conn.setAutoCommit(false);
        long sum = 0;
        try (Statement asked = conn.createStatement()) {
            asked.setFetchSize(100);
            try (ResultSet rows = asked.executeQuery("SELECT n FROM " + db + ".clicks")) {
                while (rows.next()) sum += rows.getLong(1);
            }
        }
        conn.commit();
        conn.setAutoCommit(true);
        return "" + sum;
    }

    static String values(Connection conn, String db) throws SQLException {
        String sql = "SELECT price, \"at\", seen, day, ok, weight, tags FROM " + db + ".orders WHERE id = 3";
        try (Statement asked = conn.createStatement(); ResultSet rows = asked.executeQuery(sql)) {
            rows.next();
            return rows.getBigDecimal(1) + " " + rows.getTimestamp(2) + " " + rows.getTimestamp(3) + " "
                + rows.getDate(4) + " " + rows.getBoolean(5) + " " + rows.getDouble(6) + " "
                + ((Object[]) rows.getArray(7).getArray()).length;
        }
    }

    static String stopped(Connection conn, boolean byTime) throws SQLException {
        try (Statement asked = conn.createStatement()) {
            if (byTime) asked.setQueryTimeout(1);
            else new Thread(() -> {
                try {
                    Thread.sleep(500);
                    asked.cancel();
                } catch (Exception wrong) {
                    throw new IllegalStateException(wrong);
                }
            }).start();
            asked.executeQuery("SELECT count(*) FROM range(100000000000) a, range(1000) b");
            return "ended";
        }
    }

    static Object take(String step, Connection conn, String db) throws Exception {
        DatabaseMetaData about = conn.getMetaData();
        switch (step) {
            case "schemas": return rows(about.getSchemas(), "TABLE_SCHEM").contains(db);
            case "tables": return rows(about.getTables(null, db, "%", new String[] {"TABLE"}), "TABLE_NAME");
            case "columns": return rows(about.getColumns(null, db, "orders", "%"), "COLUMN_NAME", "DATA_TYPE", "NULLABLE");
            case "keys": return rows(about.getPrimaryKeys(null, db, "orders"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME");
            case "indexes": return rows(about.getIndexInfo(null, db, "orders", true, true), "INDEX_NAME", "COLUMN_NAME");
            case "foreign": return rows(about.getImportedKeys(null, db, "orders"), "FKTABLE_NAME");
            case "types": return rows(about.getTypeInfo(), "TYPE_NAME").contains("int8");
            case "words": return about.getSQLKeywords() != null && about.getNumericFunctions().length() > 0;
            case "typed": return typed(conn, db);
            case "repeated": return repeated(conn, db);
            case "parts": return parts(conn, db);
            case "values": return values(conn, db);
            case "time": return stopped(conn, true);
            case "cancel": return stopped(conn, false);
            case "write": return conn.createStatement().executeUpdate("DELETE FROM " + db + ".orders");
            case "batch":
                try (Statement asked = conn.createStatement()) {
                    asked.addBatch("INSERT INTO " + db + ".clicks VALUES (1)");
                    return asked.executeBatch().length;
                }
            case "wrong": return conn.createStatement().executeQuery("SELECT * FROM " + db + ".nowhere");
            default: throw new IllegalArgumentException(step);
        }
    }

    public static void main(String[] given) throws Exception {
        Properties who = new Properties();
        who.setProperty("user", "guest");
        try (Connection conn = DriverManager.getConnection(given[0], who)) {
            for (int at = 2; at < given.length; at++) {
                Object came;
                try {
                    came = take(given[at], conn, given[1]);
                } catch (SQLException wrong) {
                    came = wrong.getSQLState() + " " + String.valueOf(wrong.getMessage()).split("\n")[0];
                }
                System.out.println(given[at] + ": " + came);
            }
        }
    }
}
