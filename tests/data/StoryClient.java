import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.apache.fluss.client.Connection;
import org.apache.fluss.client.ConnectionFactory;
import org.apache.fluss.client.admin.Admin;
import org.apache.fluss.client.admin.OffsetSpec;
import org.apache.fluss.client.lookup.Lookuper;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.scanner.Scan;
import org.apache.fluss.client.table.scanner.ScanRecord;
import org.apache.fluss.client.table.scanner.batch.BatchScanner;
import org.apache.fluss.client.table.scanner.log.LogScanner;
import org.apache.fluss.client.table.writer.AppendWriter;
import org.apache.fluss.client.table.writer.UpsertWriter;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.metadata.DatabaseDescriptor;
import org.apache.fluss.metadata.PartitionInfo;
import org.apache.fluss.metadata.PartitionSpec;
import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.metadata.TableChange;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.BinaryString;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.row.InternalRow;
import org.apache.fluss.types.DataTypes;
import org.apache.fluss.utils.CloseableIterator;

/** What an application does through the public API of Java's client, step by step; a line tells what came of each. */
public class StoryClient {
    private static final int ROWS = 3000;
    private static final int BUCKETS = 4;
    private static final TablePath LOG = TablePath.of("story", "log");
    private static final TablePath KEYED = TablePath.of("story", "keyed");
    private static final TablePath PARTED = TablePath.of("story", "parted");
    private static final TablePath PREFIXED = TablePath.of("story", "prefixed");

    private final Connection connection;
    private final Admin admin;
    private final String replicas;

    private StoryClient(Connection connection, String replicas) {
        this.connection = connection;
        this.admin = connection.getAdmin();
        this.replicas = replicas;
    }

    private interface Step {
        Object take() throws Exception;
    }

    public static void main(String[] given) throws Exception {
        Configuration settings = new Configuration();
        settings.setString("bootstrap.servers", given[0]);
        try (Connection connection = ConnectionFactory.createConnection(settings)) {
            StoryClient story = new StoryClient(connection, given[1]);
            tell("databases", story::databases);
            tell("append", story::append);
            tell("scan", story::scan);
            tell("project", story::project);
            tell("limit", story::limit);
            tell("offsets", story::offsets);
            tell("upsert", story::upsert);
            tell("lookup", story::lookup);
            tell("partial", story::partial);
            tell("delete", story::delete);
            tell("changes", story::changes);
            tell("state", story::state);
            tell("prefix", story::prefix);
            tell("partitions", story::partitions);
            tell("columns", story::columns);
            tell("options", story::options);
            tell("wrong", story::wrong);
            tell("drop", story::drop);
        }
        System.exit(0);
    }

    private static void tell(String step, Step act) {
        String said;
        try {
            said = String.valueOf(act.take());
        } catch (Throwable wrong) {
            Throwable root = wrong;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            wrong.printStackTrace();
            said = "FAILED " + root.getClass().getSimpleName() + ": " + root.getMessage();
        }
        System.out.println(step + ": " + said);
    }

    // -- helpers

    private TableDescriptor.Builder table(Schema schema) {
        return TableDescriptor.builder().schema(schema).property("table.replication.factor", replicas);
    }

    private Table open(TablePath path, TableDescriptor descriptor) throws Exception {
        admin.createTable(path, descriptor, false).get();
        return connection.getTable(path);
    }

    private static GenericRow row(Object... values) {
        GenericRow row = new GenericRow(values.length);
        for (int at = 0; at < values.length; at++) {
            Object value = values[at];
            row.setField(at, value instanceof String ? BinaryString.fromString((String) value) : value);
        }
        return row;
    }

    private static void settle(List<CompletableFuture<?>> under_way) throws Exception {
        for (CompletableFuture<?> one : under_way) {
            one.get();
        }
    }

    private interface Take {
        void take(ScanRecord one);
    }

    private static int read(Table table, Scan scan, Long partition, int wanted, Take take) throws Exception {
        int found = 0;
        try (LogScanner scanner = scan.createLogScanner()) {
            for (int bucket = 0; bucket < table.getTableInfo().getNumBuckets(); bucket++) {
                if (partition == null) {
                    scanner.subscribeFromBeginning(bucket);
                } else {
                    scanner.subscribeFromBeginning(partition, bucket);
                }
            }
            long until = System.nanoTime() + Duration.ofSeconds(60).toNanos();
            while (found < wanted && System.nanoTime() < until) {
                for (ScanRecord one : scanner.poll(Duration.ofMillis(500))) {
                    take.take(one);
                    found++;
                }
            }
        }
        return found;
    }

    private static String name(int id) {
        return "row " + id;
    }

    // -- steps

    private Object databases() throws Exception {
        admin.createDatabase("story", DatabaseDescriptor.builder().comment("told").build(), false).get();
        boolean there = admin.databaseExists("story").get() && admin.listDatabases().get().contains("story");
        String comment = admin.getDatabaseInfo("story").get().getDatabaseDescriptor().getComment().orElse("");
        return there + " " + comment + " " + !admin.getServerNodes().get().isEmpty();
    }

    private Object append() throws Exception {
        Schema schema = Schema.newBuilder()
                .column("id", DataTypes.INT())
                .column("name", DataTypes.STRING())
                .column("price", DataTypes.DOUBLE())
                .build();
        try (Table table = open(LOG, table(schema).distributedBy(BUCKETS).build())) {
            AppendWriter writer = table.newAppend().createWriter();
            List<CompletableFuture<?>> under_way = new ArrayList<>();
            for (int id = 0; id < ROWS; id++) {
                under_way.add(writer.append(row(id, name(id), id / 2.0)));
            }
            writer.flush();
            settle(under_way);
        }
        return admin.listTables("story").get();
    }

    private Object scan() throws Exception {
        TreeSet<Integer> ids = new TreeSet<>();
        boolean[] fine = {true};
        try (Table table = connection.getTable(LOG)) {
            int found = read(table, table.newScan(), null, ROWS, one -> {
                InternalRow row = one.getRow();
                ids.add(row.getInt(0));
                fine[0] &= row.getString(1).toString().equals(name(row.getInt(0)));
                fine[0] &= row.getDouble(2) == row.getInt(0) / 2.0;
            });
            return found + " " + ids.size() + " " + fine[0];
        }
    }

    private Object project() throws Exception {
        boolean[] fine = {true};
        try (Table table = connection.getTable(LOG)) {
            int found = read(table, table.newScan().project(List.of("price", "id")), null, ROWS, one -> {
                InternalRow row = one.getRow();
                fine[0] &= row.getFieldCount() == 2 && row.getDouble(0) == row.getInt(1) / 2.0;
            });
            return found + " " + fine[0];
        }
    }

    private static int count(Scan scan, TableBucket bucket) throws Exception {
        int found = 0;
        try (BatchScanner scanner = scan.createBatchScanner(bucket)) {
            CloseableIterator<InternalRow> rows;
            while ((rows = scanner.pollBatch(Duration.ofSeconds(10))) != null) {
                while (rows.hasNext()) {
                    rows.next();
                    found++;
                }
                rows.close();
            }
        }
        return found;
    }

    private Object limit() throws Exception {
        int found = 0;
        try (Table table = connection.getTable(LOG)) {
            long id = table.getTableInfo().getTableId();
            for (int bucket = 0; bucket < BUCKETS; bucket++) {
                found += Math.min(1, count(table.newScan().limit(7), new TableBucket(id, bucket)));
            }
        }
        return found > 0;
    }

    private Object offsets() throws Exception {
        List<Integer> buckets = List.of(0, 1, 2, 3);
        long sum = 0;
        for (long one : admin.listOffsets(LOG, buckets, new OffsetSpec.LatestSpec()).all().get().values()) {
            sum += one;
        }
        for (long one : admin.listOffsets(LOG, buckets, new OffsetSpec.EarliestSpec()).all().get().values()) {
            sum -= one;
        }
        return sum;
    }

    private static Schema keyed() {
        return Schema.newBuilder()
                .column("id", DataTypes.INT())
                .column("name", DataTypes.STRING())
                .column("price", DataTypes.DOUBLE())
                .primaryKey("id")
                .build();
    }

    private Object upsert() throws Exception {
        try (Table table = open(KEYED, table(keyed()).distributedBy(BUCKETS, "id").build())) {
            UpsertWriter writer = table.newUpsert().createWriter();
            List<CompletableFuture<?>> under_way = new ArrayList<>();
            for (int id = 0; id < ROWS; id++) {
                under_way.add(writer.upsert(row(id, name(id), 1.0)));
            }
            writer.flush();
            settle(under_way);
            return under_way.size();
        }
    }

    private static InternalRow find(Lookuper lookuper, Object... key) throws Exception {
        return lookuper.lookup(row(key)).get().getSingletonRow();
    }

    private Object lookup() throws Exception {
        try (Table table = connection.getTable(KEYED)) {
            Lookuper lookuper = table.newLookup().createLookuper();
            int right = 0;
            for (int id = 0; id < ROWS; id += 100) {
                InternalRow found = find(lookuper, id);
                right += found.getString(1).toString().equals(name(id)) ? 1 : 0;
            }
            return right + " " + find(lookuper, -1);
        }
    }

    private Object partial() throws Exception {
        try (Table table = connection.getTable(KEYED)) {
            UpsertWriter writer = table.newUpsert().partialUpdate("id", "price").createWriter();
            writer.upsert(row(5, null, 9.5)).get();
            writer.upsert(row(ROWS, null, 2.5)).get();
            Lookuper lookuper = table.newLookup().createLookuper();
            InternalRow old = find(lookuper, 5);
            InternalRow fresh = find(lookuper, ROWS);
            return old.getString(1) + " " + old.getDouble(2) + " " + fresh.isNullAt(1) + " " + fresh.getDouble(2);
        }
    }

    private Object delete() throws Exception {
        try (Table table = connection.getTable(KEYED)) {
            UpsertWriter writer = table.newUpsert().createWriter();
            writer.delete(row(6, null, null)).get();
            writer.delete(row(-6, null, null)).get();
            Lookuper lookuper = table.newLookup().createLookuper();
            return find(lookuper, 6) + " " + find(lookuper, 7).getInt(0);
        }
    }

    private Object changes() throws Exception {
        TreeMap<String, Integer> kinds = new TreeMap<>();
        try (Table table = connection.getTable(KEYED)) {
            int wanted = ROWS + 1 + 2 + 1;
            read(table, table.newScan(), null, wanted, one -> kinds.merge(one.getChangeType().shortString(), 1, Integer::sum));
            return kinds;
        }
    }

    private Object state() throws Exception {
        try (Table table = connection.getTable(KEYED)) {
            long id = table.getTableInfo().getTableId();
            int found = 0;
            for (int bucket = 0; bucket < BUCKETS; bucket++) {
                found += count(table.newScan().limit(ROWS), new TableBucket(id, bucket));
            }
            return found;
        }
    }

    private Object prefix() throws Exception {
        Schema schema = Schema.newBuilder()
                .column("customer", DataTypes.INT())
                .column("item", DataTypes.INT())
                .column("price", DataTypes.DOUBLE())
                .primaryKey("customer", "item")
                .build();
        try (Table table = open(PREFIXED, table(schema).distributedBy(BUCKETS, "customer").build())) {
            UpsertWriter writer = table.newUpsert().createWriter();
            for (int id = 0; id < 100; id++) {
                writer.upsert(row(id % 10, id, 1.0 * id));
            }
            writer.flush();
            Lookuper lookuper = table.newLookup().lookupBy("customer").createLookuper();
            TreeSet<Integer> items = new TreeSet<>();
            for (InternalRow one : lookuper.lookup(row(3)).get().getRowList()) {
                items.add(one.getInt(1));
            }
            return items + " " + lookuper.lookup(row(77)).get().getRowList().size();
        }
    }

    private Object partitions() throws Exception {
        Schema schema = Schema.newBuilder()
                .column("day", DataTypes.STRING())
                .column("id", DataTypes.INT())
                .column("name", DataTypes.STRING())
                .primaryKey("day", "id")
                .build();
        try (Table table = open(PARTED, table(schema).partitionedBy("day").distributedBy(2, "id").build())) {
            admin.createPartition(PARTED, new PartitionSpec(Collections.singletonMap("day", "mon")), false).get();
            UpsertWriter writer = table.newUpsert().createWriter();
            for (int id = 0; id < 100; id++) { // tue is made by the write
                writer.upsert(row(id % 2 == 0 ? "mon" : "tue", id, name(id)));
            }
            writer.flush();
            TreeSet<String> names = new TreeSet<>();
            int found = 0;
            for (PartitionInfo one : admin.listPartitionInfos(PARTED).get()) {
                names.add(one.getPartitionName());
                found += read(table, table.newScan(), one.getPartitionId(), 50, record -> {});
            }
            InternalRow tue = find(table.newLookup().createLookuper(), "tue", 7);
            admin.dropPartition(PARTED, new PartitionSpec(Collections.singletonMap("day", "mon")), false).get();
            return names + " " + found + " " + tue.getString(2) + " " + admin.listPartitionInfos(PARTED).get().size();
        }
    }

    private Object columns() throws Exception {
        TableChange change = TableChange.addColumn("note", DataTypes.STRING(), "new", TableChange.ColumnPosition.last());
        admin.alterTable(KEYED, List.of(change), false).get();
        try (Table table = connection.getTable(KEYED)) {
            table.newUpsert().createWriter().upsert(row(8, name(8), 1.0, "noted")).get();
            Lookuper lookuper = table.newLookup().createLookuper();
            InternalRow old = find(lookuper, 9);
            return admin.getTableSchema(KEYED).get().getSchemaId() + " " + find(lookuper, 8).getString(3) + " "
                    + old.getString(1) + " " + old.isNullAt(3);
        }
    }

    private Object options() throws Exception {
        admin.alterTable(LOG, List.of(TableChange.set("story.owner", "Ada")), false).get();
        String set = admin.getTableInfo(LOG).get().getCustomProperties().toMap().get("story.owner");
        admin.alterTable(LOG, List.of(TableChange.reset("story.owner")), false).get();
        return set + " " + admin.getTableInfo(LOG).get().getCustomProperties().toMap().get("story.owner");
    }

    private Object wrong() throws Exception {
        List<String> names = new ArrayList<>();
        List<Step> mistakes = List.of(
                () -> admin.getTableInfo(TablePath.of("story", "nothing")).get(),
                () -> admin.dropDatabase("story", false, false).get(),
                () -> admin.createDatabase("story", DatabaseDescriptor.EMPTY, false).get(),
                () -> admin.createTable(LOG, table(keyed()).distributedBy(1).build(), false).get(),
                () -> admin.createPartition(LOG, new PartitionSpec(Collections.singletonMap("a", "b")), false).get());
        for (Step one : mistakes) {
            try {
                one.take();
                names.add("nothing");
            } catch (Exception told) {
                Throwable root = told;
                while (root.getCause() != null) {
                    root = root.getCause();
                }
                names.add(root.getClass().getSimpleName());
            }
        }
        return names;
    }

    private Object drop() throws Exception {
        admin.dropTable(PREFIXED, false).get();
        boolean there = admin.tableExists(PREFIXED).get();
        admin.dropDatabase("story", false, true).get();
        return there + " " + admin.databaseExists("story").get();
    }
}
