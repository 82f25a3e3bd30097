import java.time.Duration;
import org.apache.fluss.client.Connection;
import org.apache.fluss.client.ConnectionFactory;
import org.apache.fluss.client.admin.Admin;
import org.apache.fluss.client.metadata.KvSnapshots;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.scanner.batch.BatchScanner;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.InternalRow;
import org.apache.fluss.utils.CloseableIterator;

/** Reads the latest snapshots of a table and prints how many rows they have, and the sum of the first column. */
public class SnapshotReader {
    public static void main(String[] given) throws Exception {
        Configuration settings = new Configuration();
        settings.setString("bootstrap.servers", given[0]);
        TablePath path = TablePath.of(given[1], given[2]);
        long rows = 0;
        long sum = 0;
        try (Connection connection = ConnectionFactory.createConnection(settings);
                Admin admin = connection.getAdmin();
                Table table = connection.getTable(path)) {
            KvSnapshots latest = admin.getLatestKvSnapshots(path).get();
            for (int bucket : latest.getBucketIds()) {
                if (latest.getSnapshotId(bucket).isEmpty()) {
                    continue;
                }
                TableBucket place = new TableBucket(latest.getTableId(), bucket);
                long snapshot = latest.getSnapshotId(bucket).getAsLong();
                try (BatchScanner scanner = table.newScan().createBatchScanner(place, snapshot)) {
                    CloseableIterator<InternalRow> some = scanner.pollBatch(Duration.ofSeconds(10));
                    while (some != null) {
                        while (some.hasNext()) {
                            rows++;
                            sum += some.next().getInt(0);
                        }
                        some.close();
                        some = scanner.pollBatch(Duration.ofSeconds(10));
                    }
                }
            }
        }
        System.out.println(rows + " " + sum);
    }
}
