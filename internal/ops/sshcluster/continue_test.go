package sshcluster

import (
	"slices"
	"testing"
)

// TestStartContinues kills two daemons. The same command starts what has ended, and nothing else.
func TestStartContinues(t *testing.T) {
	l := newLab(t)
	l.must(l.start())
	before := l.status()
	l.signalDaemon("c/jobmaster", "KILL")
	l.signalDaemon("b/tasknode", "KILL")
	l.must(l.start())
	var changed []string
	for i, row := range l.status() {
		if row.State != Running {
			t.Errorf("%+v", row)
		}
		if row != before[i] {
			changed = append(changed, row.Role+" "+row.Host)
		}
	}
	if want := []string{"tasknode b", "jobmaster c"}; !slices.Equal(changed, want) {
		t.Errorf("started: %q, want %q", changed, want)
	}
}

func TestMachinesOfDifferentClusters(t *testing.T) {
	l := newLab(t)
	l.must(l.start())
	l.must(l.stop())
	l.write("c/cluster", "7")
	l.wantError(l.startError(), "the machines belong to different clusters", "7 has c", "choose other directories with dir=")
	l.write("c/cluster", l.read("a/cluster"))
}
