import java.io.BufferedReader;
import java.io.FileReader;
import java.io.PrintStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.util.ToolRunner;

/** Runs each line of a file as a command of Hadoop's shell: Shell SCRIPT. */
public class Shell {
  public static void main(String[] args) throws Exception {
    PrintStream out = new PrintStream(System.out, true, "UTF-8");
    System.setOut(out);
    System.setErr(out);
    try (BufferedReader script = new BufferedReader(new FileReader(args[0]))) {
      for (String line; (line = script.readLine()) != null; ) {
        out.println("$ " + line);
        FsShell shell = new FsShell();
        shell.setConf(new Configuration());
        int code = ToolRunner.run(shell, line.split(" "));
        out.println("rc=" + (code & 255));
      }
    }
  }
}
