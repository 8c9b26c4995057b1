package minihdfs

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hammr/hammr/internal/kit/owndir"
	"github.com/hammr/hammr/internal/kit/procfs"
)

// Java runs classes of Hadoop.
type Java struct {
	Jars    string // folder of jars, from Jars or YarnJars
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
	jars, err := YarnJars(ctx)
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

// JarsEnv is the environment variable with a folder of all jars. If it is set, nothing is
// fetched.
const JarsEnv = "HAMMR_HADOOP_JARS"

//go:embed pom.xml
var pom []byte

// Jars returns the folder with the jars of HDFS. It fetches them with mvn on first use, also
// if several processes call it at once.
func Jars(ctx context.Context) (string, error) { return jarSet(ctx, "hdfs") }

// YarnJars returns the folder with the jars of HDFS, YARN and MapReduce, of its streaming and of
// Hadoop's own programs.
func YarnJars(ctx context.Context) (string, error) { return jarSet(ctx, "yarn", "-P", "yarn") }

// The lock keeps two test binaries from fetching at the same time; the second finds the
// folder of the first.
func jarSet(ctx context.Context, name string, mvnArgs ...string) (string, error) {
	if dir := os.Getenv(JarsEnv); dir != "" {
		if _, err := os.Stat(dir); err != nil {
			return "", fmt.Errorf("minihdfs: folder of Hadoop's jars from %s: %w", JarsEnv, err)
		}
		return dir, nil
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, name)
	if isDir(dir) {
		return dir, nil
	}
	unlock, err := procfs.Lock(ctx, filepath.Join(cache, "lock"))
	if err != nil {
		return "", fmt.Errorf("minihdfs: lock of the cache of jars: %w", err)
	}
	defer unlock()
	if isDir(dir) {
		return dir, nil
	}
	return dir, fetchJars(ctx, cache, dir, mvnArgs)
}

// cacheDir returns a folder for this version of pom.xml, so a changed one is fetched again.
func cacheDir() (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("minihdfs: no cache folder, set %s: %w", JarsEnv, err)
	}
	hash := fnv.New64a()
	hash.Write(pom)
	dir := filepath.Join(user, "hammr", "hadoop-"+hex.EncodeToString(hash.Sum(nil)))
	return dir, owndir.Make(dir, 0o755) // the jars are programs
}

// isDir reports whether a directory exists under a path.
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// fetchJars makes mvn copy the jars into a temporary folder and renames it, so that an
// existing dir is complete. It needs a network.
func fetchJars(ctx context.Context, cache, dir string, mvnArgs []string) error {
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return fmt.Errorf("minihdfs: Hadoop's jars are fetched with mvn; install it or set %s: %w", JarsEnv, err)
	}
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return fmt.Errorf("minihdfs: folder for jars: %w", err)
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, "pom.xml"), pom, 0o644); err != nil {
		return fmt.Errorf("minihdfs: pom: %w", err)
	}
	jars := filepath.Join(work, "jars")
	args := append([]string{"-B", "-q", "-f", filepath.Join(work, "pom.xml")}, mvnArgs...)
	args = append(args, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+jars)
	cmd := exec.CommandContext(ctx, mvn, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("minihdfs: Hadoop's jars cannot be fetched: %w: %s", err, tail(out))
	}
	return os.Rename(jars, dir)
}

// tail returns the last lines of a program's output for an error message.
func tail(out []byte) []byte {
	const limit = 2000
	out = bytes.TrimSpace(out)
	if len(out) > limit {
		out = out[len(out)-limit:]
	}
	return out
}
