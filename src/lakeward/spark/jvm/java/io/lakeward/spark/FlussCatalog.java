package io.lakeward.spark;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.NonEmptyNamespaceException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.NamespaceChange;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.StagingTableCatalog;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalogCapability;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The databases and tables of a cluster as a catalog: spark.sql.catalog.fluss = io.lakeward.spark.FlussCatalog. */
public final class FlussCatalog implements StagingTableCatalog, SupportsNamespaces {
    private String name;
    private BridgeSettings settings;

    @Override
    public void initialize(String catalogName, CaseInsensitiveStringMap options) {
        name = catalogName;
        settings = BridgeSettings.of(options.asCaseSensitiveMap());
        if (settings.option("bootstrap.servers") == null) {
            throw new LakewardException("OPTIONS", "The catalog '" + name + "' does not know its servers; set spark.sql.catalog."
                + name + ".bootstrap.servers, for example to localhost:9123.");
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String[] defaultNamespace() {
        return new String[] {"fluss"};
    }

    // -- databases ---------------------------------------------------------------------------------------------------

    @Override
    public String[][] listNamespaces() {
        String[] names = Json.toTexts(call("databases", Json.object()));
        return Arrays.stream(names).map(each -> new String[] {each}).toArray(String[][]::new);
    }

    @Override
    public String[][] listNamespaces(String[] namespace) throws NoSuchNamespaceException {
        if (namespace.length == 0) return listNamespaces();
        loadNamespaceMetadata(namespace);
        return new String[0][];
    }

    @Override
    public Map<String, String> loadNamespaceMetadata(String[] namespace) throws NoSuchNamespaceException {
        if (namespace.length != 1) throw new NoSuchNamespaceException(namespace);
        try {
            return Json.toMap(call("database", database(namespace)));
        } catch (LakewardException e) {
            throw e.is("DATABASE_NOT_EXIST") ? sneaky(new NoSuchNamespaceException(namespace)) : e;
        }
    }

    @Override
    public void createNamespace(String[] namespace, Map<String, String> properties)
            throws NamespaceAlreadyExistsException {
        ObjectNode arguments = database(namespace);
        arguments.set("properties", Json.of(properties));
        try {
            call("create_database", arguments);
        } catch (LakewardException e) {
            throw e.is("DATABASE_ALREADY_EXIST") ? sneaky(new NamespaceAlreadyExistsException(namespace)) : e;
        }
    }

    @Override
    public void alterNamespace(String[] namespace, NamespaceChange... changes) {
        throw new LakewardException("UNSUPPORTED", "A database cannot be changed once it is there; drop it and create it anew.");
    }

    @Override
    public boolean dropNamespace(String[] namespace, boolean cascade)
            throws NoSuchNamespaceException, NonEmptyNamespaceException {
        try {
            return call("drop_database", database(namespace).put("cascade", cascade)).asBoolean();
        } catch (LakewardException e) {
            if (e.is("DATABASE_NOT_EXIST")) throw new NoSuchNamespaceException(namespace);
            throw e.is("DATABASE_NOT_EMPTY") ? sneaky(new NonEmptyNamespaceException(namespace)) : e;
        }
    }

    // -- tables ------------------------------------------------------------------------------------------------------

    @Override
    public Identifier[] listTables(String[] namespace) throws NoSuchNamespaceException {
        try {
            String[] names = Json.toTexts(call("tables", database(namespace)));
            return Arrays.stream(names).map(each -> Identifier.of(namespace, each)).toArray(Identifier[]::new);
        } catch (LakewardException e) {
            throw e.is("DATABASE_NOT_EXIST") ? sneaky(new NoSuchNamespaceException(namespace)) : e;
        }
    }

    @Override
    public Table loadTable(Identifier table) throws NoSuchTableException {
        if (table.namespace().length == 2) return ofLake(table);
        if (table.namespace().length != 1) throw new NoSuchTableException(table);
        return onTable(table, "table", named(table));
    }

    /** db.t.snapshots and its like. */
    private Table ofLake(Identifier table) throws NoSuchTableException {
        try {
            String owner = String.join(".", table.namespace());
            return new LakeTable(call("lake_table", Json.object().put("table", owner).put("what", table.name())));
        } catch (LakewardException e) {
            boolean missing = e.is("TABLE_NOT_EXIST") || e.is("DATABASE_NOT_EXIST");
            throw missing ? sneaky(new NoSuchTableException(table)) : e;
        }
    }

    /** VERSION AS OF: a number is a snapshot of the lake, anything else the name of a tag. */
    @Override
    public Table loadTable(Identifier table, String version) throws NoSuchTableException {
        boolean numbered = !version.isEmpty() && version.chars().allMatch(Character::isDigit);
        return asOf(table, numbered ? "scan.snapshot-id" : "scan.tag", version);
    }

    /** TIMESTAMP AS OF, in microseconds. */
    @Override
    public Table loadTable(Identifier table, long timestamp) throws NoSuchTableException {
        return asOf(table, "scan.timestamp-millis", Long.toString(Math.floorDiv(timestamp, 1000)));
    }

    private Table asOf(Identifier table, String option, String value) throws NoSuchTableException {
        FlussTable now = (FlussTable) loadTable(table);
        return FlussTable.of(settings.with(Map.of(option, value)), now.described);
    }

    /** Constraints: of these a primary key means something here, the others are refused by name. */
    @Override
    public Set<TableCatalogCapability> capabilities() {
        return EnumSet.of(TableCatalogCapability.SUPPORT_TABLE_CONSTRAINT);
    }

    @Override
    public Table createTable(Identifier table, TableInfo info)
            throws TableAlreadyExistsException, NoSuchNamespaceException {
        return FlussTable.of(settings, made(table, "create_table", asked(table, info)));
    }

    @Override
    public StagedTable stageCreate(Identifier table, TableInfo info)
            throws TableAlreadyExistsException, NoSuchNamespaceException {
        return staged(table, info, "create");
    }

    @Override
    public StagedTable stageReplace(Identifier table, TableInfo info)
            throws NoSuchNamespaceException, NoSuchTableException {
        return staged(table, info, "replace");
    }

    @Override
    public StagedTable stageCreateOrReplace(Identifier table, TableInfo info) throws NoSuchNamespaceException {
        return staged(table, info, "create_or_replace");
    }

    private StagedTable staged(Identifier table, TableInfo info, String mode) throws NoSuchNamespaceException {
        ObjectNode arguments = asked(table, info).put("mode", mode);
        return new StagedFlussTable(settings, made(table, "stage_table", arguments), arguments);
    }

    private JsonNode made(Identifier table, String call, ObjectNode arguments) throws NoSuchNamespaceException {
        try {
            return call(call, arguments);
        } catch (LakewardException e) {
            if (e.is("DATABASE_NOT_EXIST")) throw new NoSuchNamespaceException(table.namespace());
            if (e.is("TABLE_NOT_EXIST")) throw sneaky(new NoSuchTableException(table));
            throw e.is("TABLE_ALREADY_EXIST") ? sneaky(new TableAlreadyExistsException(table)) : e;
        }
    }

    private static ObjectNode asked(Identifier table, TableInfo info) {
        ObjectNode arguments = named(table);
        arguments.set("schema", Columns.toJson(info.columns()));
        arguments.set("partitioned_by", Columns.identities(info.partitions()));
        arguments.set("properties", Json.of(info.properties()));
        arguments.set("primary_key", Columns.primaryKey(table, info.constraints()));
        return arguments.put("default_provider", SQLConf.get().defaultDataSourceName());
    }

    @Override
    public Table alterTable(Identifier table, TableChange... changes) throws NoSuchTableException {
        ObjectNode arguments = named(table);
        Columns.addChanges(arguments, table, changes);
        return onTable(table, "alter_table", arguments);
    }

    @Override
    public boolean dropTable(Identifier table) {
        return call("drop_table", named(table)).asBoolean();
    }

    /** By a copy, since the protocol knows no renaming. */
    @Override
    public void renameTable(Identifier from, Identifier to) throws NoSuchTableException, TableAlreadyExistsException {
        try {
            call("rename_table", named(from).put("to", named(own(to)).get("table").asText()));
        } catch (LakewardException e) {
            if (e.is("TABLE_NOT_EXIST")) throw new NoSuchTableException(from);
            throw e.is("TABLE_ALREADY_EXIST") ? sneaky(new TableAlreadyExistsException(to)) : e;
        }
    }

    /** Spark takes the new name as it is, and who writes the catalog's name before it means the same. */
    private Identifier own(Identifier table) {
        String[] names = table.namespace();
        boolean whole = names.length == 2 && names[0].equals(name);
        return whole ? Identifier.of(new String[] {names[1]}, table.name()) : table;
    }

    private Table onTable(Identifier table, String call, ObjectNode arguments) throws NoSuchTableException {
        try {
            return FlussTable.of(settings, call(call, arguments));
        } catch (LakewardException e) {
            boolean missing = e.is("TABLE_NOT_EXIST") || e.is("DATABASE_NOT_EXIST");
            throw missing ? sneaky(new NoSuchTableException(table)) : e;
        }
    }

    private JsonNode call(String call, ObjectNode arguments) {
        return Bridge.call(settings, call, arguments);
    }

    private static ObjectNode database(String[] namespace) {
        return Json.object().put("database", String.join(".", namespace));
    }

    private static ObjectNode named(Identifier table) {
        return Json.object().put("table", String.join(".", table.namespace()) + "." + table.name());
    }

    /** Spark's own exceptions are checked in Java alone. */
    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException sneaky(Throwable exception) throws E {
        throw (E) exception;
    }
}
