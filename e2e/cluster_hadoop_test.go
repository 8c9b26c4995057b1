//go:build deploy

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/ops/sshcluster/sshtest"
	"github.com/hammr/hammr/internal/testing/must"
)

// newHadoopMachines returns three machines whose daemons of Hadoop have ports of their own.
func newHadoopMachines(t *testing.T, options string) *machines {
	t.Helper()
	m := startSSHD(t)
	var distances []int
	for _, d := range []int{0, 1, 10, 11, 20, 21, 22, 23, 24, 26, 27, 28, 29, 30, 31, 32, 33} {
		distances = append(distances, d, d+40, d+80)
	}
	base := sshtest.FreePort(t, distances...)
	var hosts []string
	for i, host := range sshtest.Hosts[:3] {
		hosts = append(hosts, fmt.Sprintf("%s port=%d", host, base+40*i))
	}
	m.writeHostfile(strings.Join(hosts, "\n"), options)
	return m
}

// TestClusterWithYarn runs a job of Hadoop's streaming on a cluster with a YARN. Then it stops the
// cluster under another job, whose containers end, also those of a NodeManager that was killed.
func TestClusterWithYarn(t *testing.T) {
	jars, err := minihdfs.YarnJars(t.Context())
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	m := newHadoopMachines(t, "masters=1 hdfs=true yarn=true yarn-memory=1280")
	r := m.done("start")
	t.Logf("the first start with YARN took %v\n%s", r.took, r.stderr)
	if rows := m.status(); len(rows) != 12 { // a jobmaster, a NameNode, a ResourceManager, and three of each of the others
		t.Errorf("daemons: %v", rows)
	}
	conf, text := m.hostfile+".hadoop", strings.Repeat("a line\n", 1000)
	fs := func(args ...string) string {
		t.Helper()
		r := start(t, command{args: append([]string{"fs"}, args...), env: []string{"HADOOP_CONF_DIR=" + conf}}).wait(t)
		r.want(t, 0)
		return r.stdout
	}
	fs("-put", newFile(t, "in", []byte(text)), "/in")
	client := minihdfs.Client{Java: minihdfs.Java{Jars: jars, Conf: conf}}
	job, _, err := client.Stream(t.Context(), "-D", "mapreduce.job.reduces=1", "-D", "mapreduce.job.maps=4", "-input", "/in", "-output", "/out", "-mapper", "cat", "-reducer", "wc -l")
	must.Do(t, err)
	if got := strings.TrimSpace(fs("-cat", "/out/part-00000")); got != "1000" {
		t.Errorf("%q lines", got)
	}
	_, err = client.History(t.Context(), job, t.TempDir())
	must.Do(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, _, err := client.Stream(ctx, "-D", "mapreduce.job.maps=6", "-D", "mapreduce.job.reduces=0", "-input", "/in", "-output", "/never", "-mapper", "sleep 31415926")
		ended <- err
	}()
	sleeping := func() (n int) {
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, name := range lines {
			if line, _ := os.ReadFile(name); strings.HasSuffix(string(line), "sleep\x0031415926\x00") {
				n++
			}
		}
		return n
	}
	waitUntil(t, "six maps run", func() bool { return sleeping() == 6 })
	pid, err := strconv.Atoi(strings.TrimSpace(string(readFile(t, filepath.Join(m.Dir, sshtest.Hosts[1], "nodemanager.pid")))))
	must.Do(t, err)
	must.Do(t, syscall.Kill(pid, syscall.SIGKILL))
	m.done("stop")
	m.wantNoProcesses()
	if n := sleeping(); n > 0 {
		t.Errorf("%d maps outlive the cluster", n)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("the second job has ended")
	}
}

// TestClusterWithHDFS runs a program on a cluster with an HDFS of its own, where maps read blocks
// of the DataNode beside them. All DataNodes have the same address for the NameNode, as they are
// on one machine, so their ports differ.
func TestClusterWithHDFS(t *testing.T) {
	if err := minihdfs.CheckAvailable(t.Context()); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	m := newHadoopMachines(t, "masters=1")
	in, dir := proseFile(t, "prose", 9<<20), t.TempDir()
	r := m.done("start", "--with-hdfs")
	t.Logf("the first start with HDFS took %v\n%s", r.took, r.stderr)
	masters := strings.TrimSpace(r.stdout)
	if len(m.status()) != 8 { // a jobmaster, a NameNode, and three tasknodes with DataNodes
		t.Errorf("daemons: %v", m.status())
	}
	hdfs := func(args ...string) result {
		t.Helper()
		r := start(t, command{args: args, env: []string{"HAMMR_MASTER=" + masters, "HAMMR_TOKEN_FILE=" + m.hostfile + ".token", "HADOOP_CONF_DIR=" + m.hostfile + ".hadoop"}}).wait(t)
		r.want(t, 0)
		return r
	}
	// Each block is on one DataNode only, so that its place matters.
	hdfs("fs", "-D", "dfs.replication=1", "-D", "dfs.blocksize=1048576", "-put", in, "/prose")
	file := filepath.Join(dir, "report.json")
	hdfs("run", "wordcount", "--report", file, "-D", "hammr.input.combine=false", "/prose", "/out")
	hdfs("fs", "-get", "/out", filepath.Join(dir, "out"))
	wantSame(t, parts(t, filepath.Join(dir, "out"), 1), shell(t, toolWordcount, in))
	doc, err := report.ReadFile(file)
	must.Do(t, err)
	values := doc.Counters[counter.DataLocalMaps.Group]
	local, maps := values[counter.DataLocalMaps.Name], values[counter.LaunchedMaps.Name]
	t.Logf("%d of %d maps were local to their block", local, maps)
	if local < 7 || maps < 9 {
		t.Errorf("%d of %d maps were local to their block: %v", local, maps, values)
	}
	m.done("stop")
	m.wantNoProcesses()
	m.done("start", "--with-hdfs")
	hdfs("fs", "-test", "-e", "/out/_SUCCESS")
}
