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

	"github.com/hammr/hammr/internal/owndir"
	"github.com/hammr/hammr/internal/procfs"
)

// JarsEnv is the environment variable with a folder of all jars. If it is set, nothing is
// fetched.
const JarsEnv = "HAMMR_HADOOP_JARS"

//go:embed pom.xml
var pom []byte

// Jars returns the folder with the jars of HDFS. It fetches them with mvn on first use, also
// if several processes call it at once.
func Jars(ctx context.Context) (string, error) { return jarSet(ctx, "hdfs") }

// ExampleJars returns the folder with the jars of HDFS and of Hadoop's own
// MapReduce programs with their local runner.
func ExampleJars(ctx context.Context) (string, error) {
	return jarSet(ctx, "examples", "-P", "examples")
}

// YarnJars returns the folder with the jars of HDFS, YARN and MapReduce, and of its
// streaming.
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
