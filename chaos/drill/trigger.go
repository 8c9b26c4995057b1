package drill

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// isDue reports whether what a trigger waits for has happened. It reads statuses that are
// at most pollInterval old, and counts files on the disks of this machine.
func (d *drill) isDue(t chaos.Trigger) bool {
	if t.Event == chaos.AtTime {
		return time.Since(d.began) >= t.At
	}
	id, out := d.jobNamed(t.Job)
	s := d.watch.job(id)
	if s == nil {
		return false
	}
	switch t.Event {
	case chaos.AtMapProgress:
		return s.MapsRunning+s.MapsDone > 0 && percent(s.MapProgress) >= t.N
	case chaos.AtReduceProgress:
		return hasReduce(s) && percent(s.ReduceProgress) >= t.N
	case chaos.AtSpill:
		return d.spills(id) >= t.N
	case chaos.AtCommit:
		return s.State >= wire.JobState_COMMITTING && (t.N == 0 || d.committed(out) >= t.N)
	}
	return false
}

// percent rounds down. The small addend keeps 0.29 from becoming 28 %.
func percent(of float64) int { return int(of*100 + 1e-6) }

// hasReduce reports whether a reduce has started. Progress of reduces is 0 before and at
// their start, so 0 % needs this check.
func hasReduce(s *wire.JobStatus) bool {
	for _, t := range s.Tasks {
		if t.Kind == taskproc.Kind_REDUCE && len(t.Attempts) > 0 {
			return true
		}
	}
	return false
}

// jobNamed returns the id and the output directory of the plan's job of a name. The plan's
// check guarantees that there is one.
func (d *drill) jobNamed(job string) (id, out string) {
	for i, j := range d.plan.Jobs {
		if j.Name == job {
			return d.watch.ids[i], d.outs[i]
		}
	}
	return "", ""
}

// spills returns the number of sorted files that a job has on all tasknodes. Files of running
// attempts count too: a spill is on disk before its map has finished.
func (d *drill) spills(id string) (n int) {
	_, tasknodes := d.rig.Names()
	for _, name := range tasknodes {
		n += d.rig.Spills(name, id)
	}
	return n
}

// committed returns the number of output files with final names. On HDFS they are not counted,
// so it is 0 until the job has ended.
func (d *drill) committed(out string) int {
	if strings.Contains(out, "://") {
		return 0
	}
	files, _ := filepath.Glob(filepath.Join(out, "part-*")) // the pattern is valid
	return len(files)
}
