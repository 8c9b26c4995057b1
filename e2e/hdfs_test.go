package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/ops/minihdfs"
)

// TestNamesOfClusters names the same files in every supported form.
func TestNamesOfClusters(t *testing.T) {
	w := newWeb(t, cluster(t))
	dir := w.dir()
	w.put(dir+"/in", []byte("a b a\n"))
	w.put("/user/tester"+dir+"/in", []byte("relative\n"))
	conf := []string{"HADOOP_CONF_DIR=" + w.c.Conf()}
	nameService := []string{"HADOOP_CONF_DIR=" + nameServiceConf(t, w.c)}
	for name, c := range map[string]struct {
		env  []string
		args []string // the name of the output is the last argument
		want string
	}{
		"full names":           {nil, []string{w.c.URI() + dir + "/in", w.c.URI() + dir + "/full"}, "a\t2\nb\t1\n"},
		"-fs":                  {nil, []string{"-fs", w.c.URI(), dir + "/in", dir + "/fs"}, "a\t2\nb\t1\n"},
		"-D fs.defaultFS":      {nil, []string{"-D", "fs.defaultFS=" + w.c.URI(), dir + "/in", dir + "/default"}, "a\t2\nb\t1\n"},
		"configuration":        {conf, []string{dir + "/in", dir + "/conf"}, "a\t2\nb\t1\n"},
		"hdfs:///":             {conf, []string{"hdfs://" + dir + "/in", "hdfs://" + dir + "/slashes"}, "a\t2\nb\t1\n"},
		"glob and directories": {conf, []string{dir + "/[i]n", "/user/tester" + dir, dir + "/glob"}, "a\t2\nb\t1\nrelative\t1\n"},
		"name service":         {nameService, []string{"hdfs://ns1" + dir + "/in", "hdfs://ns1" + dir + "/service"}, "a\t2\nb\t1\n"},
		"relative":             {conf, []string{dir[1:] + "/in", dir + "/relative"}, "relative\t1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, command{args: append([]string{"run", "wordcount"}, c.args...), env: c.env}).wait(t)
			r.want(t, 0)
			out := c.args[len(c.args)-1]
			out = out[strings.Index(out, dir):]
			if got := string(newWeb(t, w.c).parts(out, 1)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	t.Run("from HDFS to a local file", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out")
		done(t, "run", "wordcount", w.c.URI()+dir+"/in", out)
		if got := string(parts(t, out, 1)); got != "a\t2\nb\t1\n" {
			t.Errorf("got %q", got)
		}
	})
}

// nameServiceConf returns a configuration of the cluster as nameservice "ns1", with one NameNode
// address on which nothing listens.
func nameServiceConf(t *testing.T, c *minihdfs.Cluster) string {
	t.Helper()
	var site strings.Builder
	site.WriteString("<configuration>\n")
	for _, p := range [][2]string{
		{"dfs.nameservices", "ns1"},
		{"dfs.ha.namenodes.ns1", "a,b"},
		{"dfs.namenode.rpc-address.ns1.a", strings.TrimPrefix(c.URI(), "hdfs://")},
		{"dfs.namenode.rpc-address.ns1.b", "127.0.0.1:9"},
	} {
		fmt.Fprintf(&site, "<property><name>%s</name><value>%s</value></property>\n", p[0], p[1])
	}
	site.WriteString("</configuration>\n")
	return filepath.Dir(newFile(t, "hdfs-site.xml", []byte(site.String())))
}

func TestOutputReplicationAndBlockSize(t *testing.T) {
	w := newWeb(t, cluster(t))
	dir := w.dir()
	in := readFile(t, binaryLines(t, "lines", 3<<20))
	w.put(dir+"/in", in)
	name := w.c.URI() + dir
	done(t, "run", "sort", "-D", "dfs.replication=2", "-D", "dfs.blocksize=512k", name+"/in", name+"/out")
	wantSame(t, w.parts(dir+"/out", 1), sortedLines(in))
	for _, e := range w.list(dir + "/out") {
		if e.PathSuffix == "part-r-00000" && (e.Replication != 2 || e.BlockSize != 512<<10) {
			t.Errorf("%+v, want replication 2 and blocks of 512 KiB", e)
		}
	}
}

func TestExistingOutputIsRefused(t *testing.T) {
	w := newWeb(t, cluster(t))
	dir := w.dir()
	w.put(dir+"/in", []byte("a\n"))
	w.put(dir+"/out/precious", []byte("mine"))
	name := w.c.URI() + dir
	run(t, "run", "wordcount", name+"/in", name+"/out").want(t, 1, "Output directory "+name+"/out already exists")
	if names := w.names(dir + "/out"); !slices.Equal(names, []string{"precious"}) {
		t.Errorf("the directory that was there holds %v", names)
	}
	run(t, "run", "wordcount", name+"/none", name+"/new").want(t, 1, "Input path does not exist: "+name+"/none")
	w.nothing(dir + "/new")
}
