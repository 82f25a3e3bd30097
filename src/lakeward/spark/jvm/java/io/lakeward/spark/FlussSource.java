package io.lakeward.spark;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** format("fluss"): a table by the options bootstrap.servers and table. */
public final class FlussSource implements TableProvider, DataSourceRegister {
    private FlussTable loaded;

    @Override
    public String shortName() {
        return "fluss";
    }

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return load(options).schema();
    }

    @Override
    public Transform[] inferPartitioning(CaseInsensitiveStringMap options) {
        return load(options).partitioning();
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> options) {
        return load(new CaseInsensitiveStringMap(options));
    }

    private FlussTable load(CaseInsensitiveStringMap options) {
        if (loaded != null) return loaded;
        String name = options.containsKey("table") ? options.get("table") : options.get("path");
        if (name == null) {
            throw new LakewardException("OPTIONS", "format(\"fluss\") needs the option 'table', for example 'shop.orders'.");
        }
        if (!options.containsKey("bootstrap.servers")) {
            throw new LakewardException(
                "OPTIONS", "format(\"fluss\") needs the option 'bootstrap.servers', for example 'localhost:9123'.");
        }
        loaded = FlussTable.load(BridgeSettings.of(options.asCaseSensitiveMap()), name);
        return loaded;
    }
}
