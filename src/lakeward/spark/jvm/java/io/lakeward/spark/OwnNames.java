package io.lakeward.spark;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import scala.collection.immutable.Seq;

/** Which names in a statement are those of our tables. */
final class OwnNames {
    private OwnNames() {}

    /** Whether a name, part by part as in SQL, is in a catalog of ours. */
    static boolean contains(SparkSession session, Seq<String> parts) {
        CatalogManager catalogs = ((org.apache.spark.sql.classic.SparkSession) session).sessionState().catalogManager();
        String first = parts.apply(0);
        boolean named = parts.length() > 1 && catalogs.isCatalogRegistered(first);
        return (named ? catalogs.catalog(first) : catalogs.currentCatalog()) instanceof FlussCatalog;
    }
}
