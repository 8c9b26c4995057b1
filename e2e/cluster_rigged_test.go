package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// rigged is a cluster of three masters whose daemons accept injected faults.
type rigged struct {
	*engine
	rig    *rig.Rig
	client *remote.Client
}

// patient is an expiry of tasknodes that a busy machine does not exceed.
const patient = 50 * time.Second

// newRigged starts a cluster with that many tasknodes, and returns when it is ready.
func newRigged(t *testing.T, tasknodes int, masterFlags ...string) *rigged {
	t.Helper()
	return newRiggedWith(t, patient, tasknodes, masterFlags...)
}

// newRiggedWith starts such a cluster with another expiry.
func newRiggedWith(t *testing.T, expiry time.Duration, tasknodes int, masterFlags ...string) *rigged {
	t.Helper()
	r, err := rig.Start(t.Context(), rig.Config{
		Dir: filepath.Join(t.TempDir(), "cluster"), Hammr: hammr, Tasknodes: tasknodes,
		Expiry: expiry, Heartbeat: 200 * time.Millisecond, MasterFlags: masterFlags,
	})
	must.Do(t, err)
	c := &rigged{engine: &engine{t: t, dir: r.Dir(), cluster: r.Cluster}, rig: r, client: r.Client()}
	t.Cleanup(c.close)
	c.state, err = localcluster.ReadState(r.Dir())
	must.Do(t, err)
	return c
}

func (c *rigged) close() {
	must.Do(c.t, c.rig.Close())
	c.checkEnd()
}

// leads waits for a leader that is not one of the given masters, and returns its name.
func (c *rigged) leads(but ...string) (leader string) {
	c.t.Helper()
	waitUntil(c.t, "another master leads", func() bool {
		ctx, cancel := context.WithTimeout(c.t.Context(), time.Second)
		defer cancel()
		info, err := c.client.Info(ctx)
		if err != nil || info.AnsweredBy != info.Leader || slices.Contains(but, info.Leader) {
			return false
		}
		leader = info.Leader
		return leader != ""
	})
	return leader
}

// again starts daemons again; it first stops those that still run.
func (c *rigged) again(names ...string) {
	c.t.Helper()
	for _, name := range names {
		must.Do(c.t, c.rig.Kill(c.t.Context(), name))
	}
	must.Do(c.t, c.rig.Start(c.t.Context(), names...))
}

// set sets a failpoint of a daemon to an action.
func (c *rigged) set(name, point, action string) {
	c.t.Helper()
	must.Do(c.t, c.rig.Failpoint(c.t.Context(), name, point, action))
}

// follows waits until a master is a follower with the complete log; otherwise leadership
// could not be transferred to it.
func (c *rigged) follows(name string) {
	c.t.Helper()
	waitUntil(c.t, name+" follows", func() bool { return c.masterIs(name, "follower") })
	c.transfer(name)
}

// watched is a job with a client that reports its progress.
type watched struct {
	*rigged
	*process
	id, out string
}

// watch runs the n-th job of the cluster, slowly, and returns when some of its maps are finished and
// tasks are running: other maps, or reduces, since one long line of the text can leave nothing for the
// other maps.
func (c *rigged) watch(id, in string, args ...string) *watched {
	c.t.Helper()
	w := &watched{rigged: c, id: id, out: filepath.Join(c.t.TempDir(), "out")}
	w.process = start(c.t, c.command(slices.Concat([]string{"run", "wordcount"}, slowly, args, []string{in, w.out})...))
	waitUntil(c.t, "some maps of "+id+" are done and tasks run", func() bool {
		s := c.look(id)
		if s.GetFinishTime() > 0 {
			c.t.Fatalf("%s was over before the test saw it run", id)
		}
		return s != nil && s.MapsDone > 0 && s.MapsRunning+s.ReducesRunning > 0
	})
	return w
}

// ends waits for the client. The client must have reported progress after the given time,
// and never less than before. The output must equal that of an undisturbed run, with one
// attempt for each task.
func (w *watched) ends(after time.Time, want string) {
	w.t.Helper()
	r := w.process.wait(w.t)
	r.want(w.t, 0)
	shown := false
	var maps, reduces [2]int // progress on the latest line, and on the line before
	for line := range strings.Lines(r.stderr) {
		at, rest, _ := strings.Cut(line, " INFO ")
		if _, figures, found := strings.Cut(rest, " map "); found {
			maps[1], reduces[1] = maps[0], reduces[0]
			if _, err := fmt.Sscanf(figures, "%d%% reduce %d%%", &maps[0], &reduces[0]); err != nil || maps[0] < maps[1] || reduces[0] < reduces[1] {
				w.t.Errorf("%v, or the client of %s shows less than before:\n%s", err, w.id, r.stderr)
			}
		}
		shown = shown || at > after.Format("2006-01-02 15:04:05,000") && strings.Contains(rest, " map ") && !strings.Contains(rest, "reduce 100%")
	}
	if !shown {
		w.t.Errorf("the client of %s told nothing after %v:\n%s", w.id, after, r.stderr)
	}
	wantSameTree(w.t, w.out, want)
	w.once()
}

// once expects one attempt for each task.
func (w *watched) once() {
	w.t.Helper()
	for _, task := range w.job(w.id).Tasks {
		if len(task.Attempts) != 1 {
			w.t.Errorf("%s of %s: %+v", task.ID, w.id, task.Attempts)
		}
	}
}

// peace returns the output of the same job in one process.
func peace(t *testing.T, in string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "want")
	done(t, "run", "wordcount", "-D", "mapreduce.job.reduces=2", "--quiet", in, dir)
	return dir
}
