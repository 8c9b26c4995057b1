package bench

import (
	"os"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/kit/procfs"
)

func TestDaemonsAreWatched(t *testing.T) {
	d := &daemons{masters: 2, pids: []int{os.Getpid(), 1, os.Getpid()}}
	end := d.measureUsage()
	for start, _ := d.cpu(); ; {
		if now, err := d.cpu(); err != nil || now[0] > start[0]+5*procfs.ClockTick {
			break
		}
	}
	u, err := end()
	if err != nil || u.MasterShare <= 0 || u.MasterShare > 100 || u.CPUSeconds < 2*5*procfs.ClockTick.Seconds() {
		t.Errorf("usage %+v, %v", u, err)
	}
	d.pids[0] = 1 << 30 // no process has that number
	if _, err := d.measureUsage()(); err == nil {
		t.Error("a daemon that is gone is watched")
	}
}

func TestNotesNameTasksAndDaemons(t *testing.T) {
	side := Side{Seconds: Spread{Median: 4}, Samples: []Sample{{Cluster: &Usage{MasterShare: 0.25, CPUSeconds: 8}}}}
	want := "250 tasks/s; the busiest master takes 25.0 % of a core; 8.00 ms of CPU time a task in daemons"
	if got := strings.Join(notesOn(Contest{Tasks: 1000}, side), "; "); got != want {
		t.Errorf("notes %q, want %q", got, want)
	}
	if got := notesOn(Contest{}, Side{}); got != nil {
		t.Errorf("notes %q on nothing", got)
	}
}
