package minihdfs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Java runs classes of Hadoop.
type Java struct {
	Jars    string // folder of jars, as from Jars or ExampleJars
	Conf    string // configuration folder; "" for Hadoop's defaults
	Temp    string // folder for temporary files, which exists; "" for the system's
	HeapMiB int    // bound of the heap; 0 for Java's default
}

// Examples returns a Java with Hadoop's MapReduce programs on its class path and
// the given configuration folder. Its drivers run in one process:
//
//	j.Run(ctx, "org.apache.hadoop.examples.ExampleDriver", "wordcount", …)
func Examples(ctx context.Context, conf string) (*Java, error) {
	jars, err := ExampleJars(ctx)
	if err != nil {
		return nil, err
	}
	return &Java{Jars: jars, Conf: conf}, nil
}

// Run runs a class to its end and returns what it printed on both outputs,
// with an error that quotes the last of it when the exit status is not 0.
func (j *Java) Run(ctx context.Context, class string, args ...string) ([]byte, error) {
	java, argv, err := j.command(class, args)
	if err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, java, argv...).CombinedOutput()
	if err != nil {
		return out, fmt.Errorf("minihdfs: %s: %w: %s", class, err, tail(out))
	}
	return out, nil
}

// command returns the program and its arguments. C1 alone and the serial
// collector make a daemon start a quarter faster; the first WebHDFS call of some
// kinds needs java.lang opened. A daemon that is killed leaves its temporary
// files, and its performance data in the system's folder.
func (j *Java) command(class string, args []string) (java string, argv []string, err error) {
	java, err = findJava()
	if err != nil {
		return "", nil, err
	}
	argv = []string{"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "--add-opens=java.base/java.lang=ALL-UNNAMED"}
	if j.Temp != "" {
		argv = append(argv, "-Djava.io.tmpdir="+j.Temp)
	}
	if j.HeapMiB > 0 {
		argv = append(argv, fmt.Sprintf("-Xmx%dm", j.HeapMiB))
	}
	classPath := filepath.Join(j.Jars, "*")
	if j.Conf != "" {
		classPath = j.Conf + ":" + classPath
	}
	argv = append(argv, "-cp", classPath, class)
	return java, append(argv, args...), nil
}

// CheckAvailable is why no cluster can be started here, for want of Java or of HDFS's jars;
// nil when one can.
func CheckAvailable(ctx context.Context) error {
	if _, err := findJava(); err != nil {
		return err
	}
	_, err := Jars(ctx)
	return err
}

func findJava() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java := filepath.Join(home, "bin", "java")
		if _, err := os.Stat(java); err == nil {
			return java, nil
		}
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return "", fmt.Errorf("minihdfs: HDFS needs Java 11 or later on the PATH or in JAVA_HOME: %w", err)
	}
	return java, nil
}
