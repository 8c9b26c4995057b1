package minihdfs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Java runs classes of Hadoop.
type Java struct {
	Jars    string // folder of jars, from Jars, ExampleJars or YarnJars
	Conf    string // configuration folder; "" for Hadoop's defaults
	Temp    string // existing folder for temporary files; "" for the system's
	HeapMiB int    // bound of the heap; 0 for Java's default

	flags []string // further flags; nil for those that use an archive of classes, if it exists
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

// Run runs a class to its end and returns its output. The error quotes the end of the output.
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

// JavaFlags returns the flags of all programs. With C1 only and the serial collector a daemon
// starts a quarter faster. Some WebHDFS calls need java.lang opened. Performance data is
// disabled, since a killed daemon would leave it in the system's folder.
func JavaFlags() []string {
	return []string{"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "--add-opens=java.base/java.lang=ALL-UNNAMED"}
}

// command returns the program and its arguments.
//
//	java FLAGS -cp CONF:JARS/* CLASS ARGS
func (j *Java) command(class string, args []string) (java string, argv []string, err error) {
	java, err = findJava()
	if err != nil {
		return "", nil, err
	}
	argv = append(JavaFlags(), j.flags...)
	if j.Temp != "" {
		argv = append(argv, "-Djava.io.tmpdir="+j.Temp)
	}
	if j.HeapMiB > 0 {
		argv = append(argv, fmt.Sprintf("-Xmx%dm", j.HeapMiB))
	}
	classPath, share := j.classPath(java)
	argv = append(append(argv, share...), "-cp", classPath, class)
	return java, append(argv, args...), nil
}

// classPath returns the class path, and flags to use the archive of its classes. With an archive the jars come first.
// They have no file of the configuration.
func (j *Java) classPath(java string) (path string, share []string) {
	archive := archiveOf(j.Jars, java)
	if _, err := os.Stat(archive); err == nil && j.flags == nil {
		if jars, err := allJars(j.Jars); err == nil {
			return strings.TrimSuffix(jars+":"+j.Conf, ":"), shareFlags(archive)
		}
	}
	path = filepath.Join(j.Jars, "*")
	if j.Conf != "" {
		path = j.Conf + ":" + path
	}
	return path, nil
}

// CheckAvailable reports why no cluster can be started here: Java or HDFS's jars are
// missing. It returns nil if a cluster can be started.
func CheckAvailable(ctx context.Context) error {
	if _, err := findJava(); err != nil {
		return err
	}
	_, err := Jars(ctx)
	return err
}

// JAVA_HOME comes before the PATH, as in Hadoop's own scripts.
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
