import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Flink's SQL, step by step: the file of the second argument holds blocks that begin with "-- HOW NAME" and go on with
 * one statement. What came of each is one line on standard output, "NAME: …".
 *
 * HOW is "do" (wait until it is done), "change" (the same as a bounded job), "all" (every row of a bounded query, sorted), "take-N" (the
 * first N rows of a stream, in their order), "job" (begin, and go on), "stop" (end the job of this name), "pause" (until
 * a line comes on standard input).
 */
public class FlinkStory {
    private static final List<String> NAMES = new ArrayList<>();
    private static final List<TableResult> JOBS = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        TableEnvironment streaming = begin(EnvironmentSettings.newInstance().inStreamingMode(), args[0]);
        TableEnvironment bounded = begin(EnvironmentSettings.newInstance().inBatchMode(), args[0]);
        for (String block : ("\n" + Files.readString(Path.of(args[1]))).split("\n-- ")) {
            if (block.isBlank()) {
                continue;
            }
            String[] head = block.substring(0, (block + "\n").indexOf('\n')).trim().split(" ");
            String statement = block.substring(Math.min(block.length(), (block + "\n").indexOf('\n') + 1)).trim();
            String told;
            try {
                told = take(streaming, bounded, head[0], head[1], statement);
            } catch (Throwable wrong) {
                wrong.printStackTrace();
                Throwable cause = wrong;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                told = cause.getClass().getSimpleName() + ": " + String.valueOf(cause.getMessage()).replace('\n', ' ');
            }
            System.out.println(head[1] + ": " + told);
        }
        System.exit(0);
    }

    private static TableEnvironment begin(EnvironmentSettings.Builder mode, String bootstrap) {
        Configuration settings = new Configuration();
        settings.setString("parallelism.default", "2");
        settings.setString("execution.checkpointing.interval", "1s");
        settings.setString("restart-strategy.type", "fixed-delay");
        settings.setString("restart-strategy.fixed-delay.attempts", "20");
        settings.setString("restart-strategy.fixed-delay.delay", "1s");
        settings.setString("table.local-time-zone", "UTC");
        TableEnvironment flink = TableEnvironment.create(mode.withConfiguration(settings).build());
        flink.executeSql("CREATE CATALOG hot WITH ('type' = 'fluss', 'bootstrap.servers' = '" + bootstrap + "')");
        flink.executeSql("USE CATALOG hot");
        return flink;
    }

    private static String take(
            TableEnvironment streaming, TableEnvironment bounded, String how, String name, String statement)
            throws Exception {
        switch (how) {
            case "do":
                streaming.executeSql(statement).await();
                return "done";
            case "change":
                bounded.executeSql(statement).await();
                return "done";
            case "all":
                return rows(bounded.executeSql(statement), Integer.MAX_VALUE).stream()
                        .sorted()
                        .collect(Collectors.joining(" "));
            case "job":
                NAMES.add(name);
                JOBS.add(streaming.executeSql(statement));
                return "begun";
            case "stop":
                JOBS.get(NAMES.indexOf(name)).getJobClient().get().cancel().get();
                return "ended";
            case "pause":
                return String.valueOf(System.in.read() >= 0);
            default:
                int wanted = Integer.parseInt(how.substring("take-".length()));
                return String.join(" ", rows(streaming.executeSql(statement), wanted));
        }
    }

    private static List<String> rows(TableResult result, int wanted) throws Exception {
        List<String> found = new ArrayList<>();
        try (CloseableIterator<Row> rows = result.collect()) {
            while (found.size() < wanted && rows.hasNext()) {
                found.add(rows.next().toString());
            }
        }
        return found;
    }
}
