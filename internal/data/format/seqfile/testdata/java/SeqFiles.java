import java.io.File;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.*;
import org.apache.hadoop.io.SequenceFile.CompressionType;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.util.ReflectionUtils;

/**
 * Hadoop's side of the tests of package seqfile.
 *
 *   write DIR RECORDS CODEC...   writes DIR/TYPE-CODEC-CLASSES.seq for every
 *                                compression type, codec and pair of classes,
 *                                and beside each a .txt of what it holds
 *   read FILE...                 writes FILE.txt: key.toString, a tab,
 *                                value.toString of each record
 */
public class SeqFiles {
  static final Configuration conf = new Configuration();

  public static void main(String[] args) throws Exception {
    if (args[0].equals("read")) {
      for (int i = 1; i < args.length; i++) {
        read(args[i]);
      }
      return;
    }
    int records = Integer.parseInt(args[2]);
    for (String pair : new String[] {"text", "bytes", "ints", "vints", "floats", "nulls"}) {
      write(args[1], pair, records, CompressionType.NONE, null);
      for (int i = 3; i < args.length; i++) {
        write(args[1], pair, records, CompressionType.RECORD, args[i]);
        write(args[1], pair, records, CompressionType.BLOCK, args[i]);
      }
    }
  }

  static Writable[] pair(String name, int i, Random random) {
    byte[] bytes = new byte[random.nextInt(40)];
    random.nextBytes(bytes);
    switch (name) {
      case "text":
        return new Writable[] {new Text("key " + i), new LongWritable(random.nextLong())};
      case "bytes":
        return new Writable[] {new BytesWritable(bytes), new Text("v\u00e4lue ".repeat(i % 7))};
      case "ints":
        return new Writable[] {new IntWritable(random.nextInt()), new BooleanWritable(i % 2 == 0)};
      case "vints":
        return new Writable[] {
          new VIntWritable(random.nextInt() >> random.nextInt(32)),
          new VLongWritable(random.nextLong() >> random.nextInt(64))};
      case "floats":
        return new Writable[] {
          new FloatWritable((i - 10) * 0.25f),
          new DoubleWritable((i - 10) * Math.pow(10, i % 40 - 20))};
      case "nulls":
        return new Writable[] {NullWritable.get(), new Text("only a value " + i)};
      default:
        throw new IllegalArgumentException(name);
    }
  }

  static void write(String dir, String pair, int records, CompressionType type, String codecName)
      throws Exception {
    CompressionCodec codec = null;
    String file = dir + "/" + type + "-" + pair + ".seq";
    if (codecName != null) {
      Class<?> c = Class.forName("org.apache.hadoop.io.compress." + codecName);
      codec = (CompressionCodec) ReflectionUtils.newInstance(c, conf);
      file = dir + "/" + type + "-" + codecName + "-" + pair + ".seq";
    }
    Random random = new Random(1);
    Writable[] first = pair(pair, 0, new Random(1));
    SequenceFile.Metadata metadata = new SequenceFile.Metadata();
    metadata.set(new Text("pair"), new Text(pair));
    conf.setInt("io.seqfile.compress.blocksize", 400);
    try (SequenceFile.Writer out = SequenceFile.createWriter(conf,
        SequenceFile.Writer.file(new Path(file)),
        SequenceFile.Writer.keyClass(first[0].getClass()),
        SequenceFile.Writer.valueClass(first[1].getClass()),
        SequenceFile.Writer.metadata(metadata),
        SequenceFile.Writer.syncInterval(200),
        SequenceFile.Writer.compression(type, codec))) {
      for (int i = 0; i < records; i++) {
        Writable[] r = pair(pair, i, random);
        out.append(r[0], r[1]);
      }
    }
    read(file);
  }

  static void read(String file) throws Exception {
    try (SequenceFile.Reader in =
            new SequenceFile.Reader(conf, SequenceFile.Reader.file(new Path(file)));
        PrintStream out = new PrintStream(new FileOutputStream(new File(file + ".txt")), false, "UTF-8")) {
      Writable key = (Writable) ReflectionUtils.newInstance(in.getKeyClass(), conf);
      Writable value = (Writable) ReflectionUtils.newInstance(in.getValueClass(), conf);
      while (in.next(key, value)) {
        out.print(key + "\t" + value + "\n");
      }
    }
  }
}
