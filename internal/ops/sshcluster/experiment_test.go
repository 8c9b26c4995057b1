package sshcluster

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReset starts two clusters of experiments after each other. The second one is a new cluster,
// and the program and the files of an HDFS have stayed.
func TestReset(t *testing.T) {
	l := newLab(t)
	l.text = "a\n* dir=" + l.dir + "/{host} slots=2 " + modelSettings() + "\n"
	reset := func(c *Cluster) error { return c.Reset(t.Context()) }
	l.must(l.with(reset))
	l.write("a/hadoop/datanode/block", "data")
	l.must(l.start())
	first := l.read("a/cluster")
	l.text = strings.Replace(l.text, "a\n", "a id=other\n", 1) // the roles of the first one do not stay
	l.must(l.with(func(c *Cluster) error {
		if err := c.Reset(t.Context()); err != nil {
			return err
		}
		if got := rolesText(c.Plan()); got != "a=other+" {
			t.Errorf("roles %s", got)
		}
		return c.Start(t.Context())
	}))
	if second := l.read("a/cluster"); second == first {
		t.Errorf("the cluster has the id %s again", second)
	}
	if l.read("a/hadoop/datanode/block") != "data" {
		t.Error("the data of HDFS has changed")
	}
	l.must(l.with(reset))
	for _, name := range []string{"cluster", "token", "jobmaster.yaml", "tasknode.log", "jobmaster.pid"} {
		if _, err := os.Stat(filepath.Join(l.dir, "a", name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
}

// TestResetRefusesOtherClusters checks that a cluster of a user is never removed.
func TestResetRefusesOtherClusters(t *testing.T) {
	l := newLab(t)
	l.text = "a\n* dir=" + l.dir + "/{host} slots=2 " + modelSettings() + "\n"
	l.must(l.start())
	l.wantError(l.with(func(c *Cluster) error { return c.Reset(t.Context()) }), "a cluster that is not an experiment's")
	l.want(Running)
}
