package minihdfs

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hammr/hammr/internal/kit/procfs"
)

// archiveOf returns the file with the classes of a folder of jars in the form in which this Java maps them into
// memory (class data sharing). It need not exist. It saves a daemon 0.8 s of CPU time at its start, and more later.
//
//	CACHE/hdfs/           jars
//	CACHE/hdfs-KEY.jsa    their classes for one version of Java
func archiveOf(jars, java string) string {
	resolved, err := filepath.EvalSymlinks(java)
	if err != nil {
		return ""
	}
	modules := filepath.Join(filepath.Dir(filepath.Dir(resolved)), "lib", "modules")
	info, err := os.Stat(modules)
	if err != nil {
		return ""
	}
	key := fnv.New64a()
	fmt.Fprint(key, modules, info.Size(), info.ModTime().UnixNano())
	return filepath.Clean(jars) + "-" + hex.EncodeToString(key.Sum(nil)) + ".jsa"
}

// shareFlags returns the flags with which Java uses an archive. It ignores one that it cannot use, as one of another
// version.
func shareFlags(archive string) []string {
	return []string{"-XX:SharedArchiveFile=" + archive, "-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"}
}

// allJars returns a class path of the jars of a folder. An archive is valid for class paths that begin so.
func allJars(dir string) (string, error) {
	jars, err := filepath.Glob(filepath.Join(dir, "*.jar"))
	return strings.Join(jars, ":"), err
}

// Archive makes the archive of the classes of HDFS, unless it exists, and returns its file. It starts a cluster that
// notes the classes which its daemons load. Clusters start without the archive too.
func Archive(ctx context.Context) (file string, err error) {
	jars, err := Jars(ctx)
	if err != nil {
		return "", err
	}
	java, err := findJava()
	if err != nil {
		return "", err
	}
	if file = archiveOf(jars, java); file == "" {
		return "", fmt.Errorf("minihdfs: %s has no lib/modules", java)
	}
	unlock, err := procfs.Lock(ctx, file+".lock")
	if err != nil {
		return "", fmt.Errorf("minihdfs: lock of an archive of classes: %w", err)
	}
	defer unlock()
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	dir, err := os.MkdirTemp(filepath.Dir(file), "archive-")
	if err != nil {
		return "", fmt.Errorf("minihdfs: folder for an archive of classes: %w", err)
	}
	defer os.RemoveAll(dir)
	lists := filepath.Join(dir, "lists")
	if err := errors.Join(os.Mkdir(lists, 0o755), noteClasses(ctx, jars, dir, lists)); err != nil {
		return "", err
	}
	made := filepath.Join(dir, "classes.jsa")
	if err := dumpClasses(ctx, java, jars, lists, made); err != nil {
		return "", err
	}
	return file, os.Rename(made, file)
}

// noteClasses starts a cluster, writes and reads a file, and ends it. Its daemons write lists of classes.
func noteClasses(ctx context.Context, jars, dir, lists string) error {
	cfg := Config{Dir: filepath.Join(dir, "cluster"), DataNodes: 2}
	cfg.EnsureDefaults()
	c, err := prepare(cfg, jars)
	if err != nil {
		return err
	}
	daemons := []*daemon{&c.data[0].daemon, &c.data[1].daemon, &c.nameNode.daemon}
	for _, d := range daemons {
		d.java.flags = []string{"-Xshare:off", "-XX:DumpLoadedClassList=" + filepath.Join(lists, d.name+".%p")}
	}
	err = c.start(ctx)
	for _, method := range []string{http.MethodPut, http.MethodGet} {
		if err == nil {
			err = c.webFile(ctx, method)
		}
	}
	for _, d := range daemons { // not by Close, which kills them: the lists would lack their ends
		err = errors.Join(err, d.end(endTimeout))
	}
	return errors.Join(err, c.Close())
}

// webFile writes or reads a file over WebHDFS: the NameNode redirects to a DataNode.
func (c *Cluster) webFile(ctx context.Context, method string) error {
	operation := map[string]string{http.MethodPut: "CREATE", http.MethodGet: "OPEN"}[method]
	url := "http://" + c.HTTP() + "/webhdfs/v1/classes?overwrite=true&op=" + operation
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(make([]byte, 1<<16)))
	if err != nil {
		return fmt.Errorf("minihdfs: %w", err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("minihdfs: %w", err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode >= 300 {
		return errors.Join(fmt.Errorf("minihdfs: %s of a file: %s: %s", operation, answer.Status, tail(text)), err)
	}
	return nil
}

// dumpClasses makes an archive of the classes in lists.
func dumpClasses(ctx context.Context, java, jars, lists, file string) error {
	files, err := filepath.Glob(filepath.Join(lists, "*"))
	if err != nil {
		return fmt.Errorf("minihdfs: %w", err)
	}
	var classes []string // in the order in which they are loaded: a line may need those before
	known := make(map[string]bool)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("minihdfs: list of classes: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			if !known[line] {
				known[line] = true
				classes = append(classes, line)
			}
		}
	}
	all := filepath.Join(filepath.Dir(file), "classes.lst")
	if err := os.WriteFile(all, []byte(strings.Join(classes, "")), 0o644); err != nil {
		return fmt.Errorf("minihdfs: list of classes: %w", err)
	}
	classPath, err := allJars(jars)
	if err != nil {
		return fmt.Errorf("minihdfs: %w", err)
	}
	cmd := exec.CommandContext(ctx, java, "-XX:+UseSerialGC", "-Xshare:dump", "-XX:SharedClassListFile="+all, "-XX:SharedArchiveFile="+file, "-cp", classPath)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("minihdfs: archive of classes: %w: %s", err, tail(out))
	}
	return nil
}
