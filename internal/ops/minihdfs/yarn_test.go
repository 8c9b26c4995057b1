package minihdfs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/testing/must"
)

// layOut prepares YARN over a cluster that does not run.
func layOut(t *testing.T, cfg YarnConfig) *Yarn {
	t.Helper()
	if _, err := findJava(); err != nil {
		t.Skip(err)
	}
	hdfs, err := prepare(Config{Dir: t.TempDir(), DataNodes: 2, Replication: 1, BlockSize: 512, Racks: []string{"/a", "/a"}, Network: "127.4.5"}, "jars")
	must.Do(t, err)
	t.Cleanup(hdfs.starter.Close)
	y := &Yarn{hdfs: hdfs, Client: Client{Java{Jars: "jars"}}, dir: t.TempDir(), starter: procfs.NewStarter()}
	t.Cleanup(func() {
		if err := y.Close(); err != nil {
			t.Error(err)
		}
	})
	must.Do(t, y.prepare(cfg))
	return y
}

// TestYarnNodesAreAtDataNodes checks that each NodeManager has the address of a DataNode and
// its own folders.
func TestYarnNodesAreAtDataNodes(t *testing.T) {
	y := layOut(t, YarnConfig{Maps: 2})
	if len(y.nodeManagers) != 2 {
		t.Fatalf("%d NodeManagers, expected 2", len(y.nodeManagers))
	}
	for i, d := range y.nodeManagers {
		line := strings.Join(d.args, " ")
		for _, want := range []string{"yarn.nodemanager.address=" + y.hdfs.Host(i) + ":8041", "yarn.nodemanager.bind-host=" + y.hdfs.Host(i), filepath.Base(y.dir)} {
			if !strings.Contains(line, want) {
				t.Errorf("NodeManager %d: no %s in %s", i, want, line)
			}
		}
	}
	if a, b := y.nodeManagers[0].args, y.nodeManagers[1].args; strings.Join(a, " ") == strings.Join(b, " ") {
		t.Errorf("two NodeManagers are told the same: %v", a)
	}
}

// TestYarnHasSlotsForMaps checks that a NodeManager has memory for its maps, as many reduces
// and a master, but not for an additional map.
func TestYarnHasSlotsForMaps(t *testing.T) {
	for _, maps := range []int{1, 2, 4, 32} {
		y := layOut(t, YarnConfig{Maps: maps, Properties: map[string]string{"mapreduce.task.io.sort.mb": "9"}})
		p := y.properties(YarnConfig{Maps: maps})
		number := func(name string) int {
			n, err := strconv.Atoi(p[name])
			must.Do(t, err)
			return n
		}
		cores, memory := number("yarn.nodemanager.resource.cpu-vcores"), number("yarn.nodemanager.resource.memory-mb")
		ofMap, ofTask := number("mapreduce.map.cpu.vcores"), number("mapreduce.map.memory.mb")
		if beside := cores - maps*ofMap; beside < maps+1 || beside >= ofMap || memory != (2*maps+1)*ofTask {
			t.Errorf("%d maps: %d cores, of which a map has %d; %d MiB, of which a task has %d", maps, cores, ofMap, memory, ofTask)
		}
		for _, name := range []string{"core-site.xml", "yarn-site.xml", "mapred-site.xml"} {
			site, err := os.ReadFile(filepath.Join(y.Conf, name))
			must.Do(t, err)
			if !strings.Contains(string(site), "<name>mapreduce.task.io.sort.mb</name><value>9</value>") {
				t.Errorf("%s has not what the caller sets", name)
			}
		}
	}
}
