package io.lakeward.spark;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;

/** Which Python to start and which options to give it; travels to the executors. */
final class BridgeSettings implements Serializable {
    private static final long serialVersionUID = 1L;
    private final String python;
    private final HashMap<String, String> options;

    private BridgeSettings(String python, Map<String, String> options) {
        this.python = python;
        this.options = new HashMap<>(options);
    }

    /** From a catalog's or a source's own options; `python` among them names the interpreter. */
    static BridgeSettings of(Map<String, String> options) {
        Map<String, String> rest = new HashMap<>(options);
        String python = rest.remove("python");
        return new BridgeSettings(python != null ? python : defaultPython(), rest);
    }

    /** The same with more options, which win over those of the same name in any case of letters. */
    BridgeSettings with(Map<String, String> more) {
        Map<String, String> merged = new HashMap<>(options);
        more.forEach((key, value) -> {
            merged.keySet().removeIf(key::equalsIgnoreCase);
            merged.put(key, value);
        });
        String python = merged.remove("python");
        return new BridgeSettings(python != null ? python : this.python, merged);
    }

    String python() {
        return python;
    }

    Map<String, String> options() {
        return options;
    }

    String option(String name) {
        for (Map.Entry<String, String> entry : options.entrySet()) {
            if (entry.getKey().equalsIgnoreCase(name)) return entry.getValue();
        }
        return null;
    }

    /** Options may hold passwords, so they are never printed. */
    @Override
    public String toString() {
        return "BridgeSettings(" + python + ", " + options.size() + " options)";
    }

    private static String defaultPython() {
        SparkConf conf = SparkEnv.get() == null ? new SparkConf() : SparkEnv.get().conf();
        String configured = conf.get("spark.pyspark.python", System.getenv("PYSPARK_PYTHON"));
        return configured != null ? configured : "python3";
    }
}
