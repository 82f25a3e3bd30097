import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.apache.fluss.client.Connection;
import org.apache.fluss.client.ConnectionFactory;
import org.apache.fluss.client.admin.Admin;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.scanner.ScanRecord;
import org.apache.fluss.client.table.scanner.log.LogScanner;
import org.apache.fluss.client.table.writer.AppendWriter;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.metadata.DatabaseDescriptor;
import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.BinaryString;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.security.acl.AccessControlEntry;
import org.apache.fluss.security.acl.AclBinding;
import org.apache.fluss.security.acl.AclBindingFilter;
import org.apache.fluss.security.acl.FlussPrincipal;
import org.apache.fluss.security.acl.OperationType;
import org.apache.fluss.security.acl.PermissionType;
import org.apache.fluss.security.acl.Resource;
import org.apache.fluss.types.DataTypes;

/** One step of a story about users and grants, as somebody who logs in: prints what came of it in one line. */
public class SecuredClient {
    private static final TablePath ORDERS = TablePath.of("shop", "orders");

    public static void main(String[] given) throws Exception {
        Configuration settings = new Configuration();
        settings.setString("bootstrap.servers", given[0]);
        settings.setString("client.security.protocol", "sasl");
        settings.setString("client.security.sasl.mechanism", "PLAIN");
        settings.setString("client.security.sasl.username", given[1]);
        settings.setString("client.security.sasl.password", given[1] + "-secret");
        for (int step = 2; step < given.length; step++) {
            String said;
            try (Connection connection = ConnectionFactory.createConnection(settings)) {
                said = act(connection, given[step]);
            } catch (Exception wrong) {
                said = root(wrong).getClass().getSimpleName();
            }
            System.out.println(given[step] + ": " + said);
        }
        System.exit(0); // threads of a client that was refused may linger
    }

    private static String act(Connection connection, String step) throws Exception {
        try (Admin admin = connection.getAdmin()) {
            switch (step) {
                case "create":
                    admin.createDatabase("shop", DatabaseDescriptor.EMPTY, true).get();
                    Schema schema =
                            Schema.newBuilder().column("id", DataTypes.INT()).column("item", DataTypes.STRING()).build();
                    admin.createTable(ORDERS, TableDescriptor.builder().schema(schema).distributedBy(1).build(), true)
                            .get();
                    return "done";
                case "grant-read":
                    admin.createAcls(List.of(grant(OperationType.READ))).all().get();
                    return "done";
                case "grant-write":
                    admin.createAcls(List.of(grant(OperationType.WRITE))).all().get();
                    return "done";
                case "list":
                    Collection<AclBinding> found = admin.listAcls(AclBindingFilter.ANY).get();
                    StringBuilder names = new StringBuilder();
                    found.stream().map(SecuredClient::shown).sorted().forEach(one -> names.append(one).append("; "));
                    return names.toString().trim();
                case "drop":
                    return admin.dropAcls(Collections.singleton(AclBindingFilter.ANY)).all().get().size() + " gone";
                case "tables":
                    return admin.listTables("shop").get().toString();
                case "write":
                    return write(connection);
                case "read":
                    return read(connection);
                default:
                    throw new IllegalArgumentException(step);
            }
        }
    }

    private static AclBinding grant(OperationType operation) {
        FlussPrincipal alice = new FlussPrincipal("alice", "User");
        return new AclBinding(
                Resource.table(ORDERS), new AccessControlEntry(alice, "*", operation, PermissionType.ALLOW));
    }

    private static String shown(AclBinding one) {
        AccessControlEntry entry = one.getAccessControlEntry();
        return entry.getPrincipal().getName() + " " + entry.getOperationType() + " " + one.getResource().getName();
    }

    private static String write(Connection connection) throws Exception {
        try (Table table = connection.getTable(ORDERS)) {
            AppendWriter writer = table.newAppend().createWriter();
            writer.append(GenericRow.of(1, BinaryString.fromString("bread"))).get();
            writer.flush();
            return "done";
        }
    }

    private static String read(Connection connection) throws Exception {
        try (Table table = connection.getTable(ORDERS);
                LogScanner scanner = table.newScan().createLogScanner()) {
            scanner.subscribeFromBeginning(0);
            int rows = 0;
            for (int tries = 0; rows == 0 && tries < 10; tries++) {
                for (ScanRecord record : scanner.poll(Duration.ofSeconds(1))) {
                    rows += record.getRow().getInt(0);
                }
            }
            return rows + " read";
        }
    }

    private static Throwable root(Throwable wrong) {
        Throwable found = wrong;
        while (found.getCause() != null) {
            found = found.getCause();
        }
        return found;
    }
}
