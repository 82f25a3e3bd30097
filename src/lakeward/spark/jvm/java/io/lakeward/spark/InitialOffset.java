package io.lakeward.spark;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;

/** Where a stream began, kept in its checkpoint: a first batch that is repeated begins at the same place. */
final class InitialOffset {
    private final Path path;

    InitialOffset(String checkpoint) {
        this.path = new Path(checkpoint, "lakeward-initial-offset.json");
    }

    String getOrElse(Supplier<String> first) {
        Configuration conf = SparkSession.active().sparkContext().hadoopConfiguration();
        try {
            FileSystem files = path.getFileSystem(conf);
            if (files.exists(path)) {
                try (InputStream in = files.open(path)) {
                    return new String(in.readAllBytes(), StandardCharsets.UTF_8);
                }
            }
            String offset = first.get();
            Path draft = path.suffix(".draft");
            try (OutputStream out = files.create(draft, true)) {
                out.write(offset.getBytes(StandardCharsets.UTF_8));
            }
            if (!files.rename(draft, path)) throw new IOException("The initial offset could not be kept in " + path);
            return offset;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
