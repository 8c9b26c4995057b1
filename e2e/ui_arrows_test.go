package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/web/analysis"
	"github.com/hammr/hammr/mr"
)

// stagedJob is a job whose attempts the test preempts, kills and loses by the API. It notes what the
// pages must show.
type stagedJob struct {
	preempted
	slow  string // directory of the files that make maps slow
	b     *browser
	used  []string // tasks that something has happened to
	freed []string // tasks that need not be slow any more
	wants []wantedArrow
}

// wantedArrow is an arrow of a timeline.
type wantedArrow struct {
	kind, source, target string
	text                 string       // that its description has
	left                 [2]time.Time // it leaves its source between them
}

// slack is by which a time of a page may differ from that of the test.
const slack = time.Second

// Maps of the staged job. A slow map takes 10 ms for a record, so it lasts ten minutes: no map ends before
// the test lets it. There are enough maps for all that the test does, and to let some of them end.
const (
	stagedMaps   = 24
	stagedLines  = 60_000
	slowProperty = "e2e.slow"
)

// staged is the job that the test stages: it counts words. A map is slow while there is a file in the
// directory that slowProperty names, with the number of the map as its name.
var staged = mr.New("staged", mr.TextLines(),
	mr.MapFunc(func(t *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
		if _, err := os.Stat(filepath.Join(t.Property(slowProperty), strconv.Itoa(t.Part()))); err == nil {
			if err := t.Sleep(10 * time.Millisecond); err != nil {
				return err
			}
		}
		for word := range mr.Words(line) {
			out.Emit(word, 1)
		}
		return nil
	}), mr.Sum[[]byte, int64](), mr.TextOutput[[]byte, int64]())

// stageJob starts the job: one map for each file.
func stageJob(t *testing.T, e *engine) *stagedJob {
	t.Helper()
	in, slow := t.TempDir(), t.TempDir()
	for i := range stagedMaps {
		must.Do(t, os.WriteFile(filepath.Join(in, fmt.Sprintf("file-%02d", i)), bytes.Repeat([]byte("to be or not to be\n"), stagedLines), 0o600))
		must.Do(t, os.WriteFile(filepath.Join(slow, strconv.Itoa(i)), nil, 0o600))
	}
	id := e.submitProgram("staged", "-D", slowProperty+"="+slow, "-D", "hammr.preempt.boundary.timeout=1m", "-D", "mapreduce.map.speculative=true", "-D", "hammr.input.combine=false",
		"-D", "mapreduce.job.reduces=2", in, filepath.Join(t.TempDir(), "out"))
	j := &stagedJob{preempted: preempted{e, id}, slow: slow, b: newBrowser(t, e.state.Masters[0].HTTP, filepath.Join(e.dir, localcluster.TokenFile))}
	waitUntil(t, "the long map runs", func() bool {
		tasks := j.job(id).Tasks
		return len(tasks) > 0 && len(tasks[0].Attempts) > 0
	})
	j.used = append(j.used, j.job(id).Tasks[0].ID)
	return j
}

// taskID returns the task of an attempt.
func taskID(attempt string) string {
	return "task" + strings.TrimPrefix(attempt[:strings.LastIndex(attempt, "_")], "attempt")
}

// act makes a change of an attempt that nothing has happened to, the one that started last. It returns
// when it was made.
func (j *stagedJob) act(verb string, form url.Values) (attempt string, at time.Time) {
	j.t.Helper()
	waitUntil(j.t, "a map is there for "+verb+form.Encode(), func() bool {
		running := j.unused()
		if len(running) == 0 {
			j.freeSlot()
			return false
		}
		attempt = slices.MaxFunc(running, func(a, b report.Attempt) int { return int(a.StartTime - b.StartTime) }).ID
		at = time.Now()
		status, _ := j.b.post("/api/v1/attempts/"+attempt+"/"+verb, form)
		return status == http.StatusOK
	})
	j.used = append(j.used, taskID(attempt))
	return attempt, at
}

// unused returns the running maps that nothing has happened to.
func (j *stagedJob) unused() []report.Attempt {
	return slices.DeleteFunc(j.attempts(report.Map, report.Running), func(a report.Attempt) bool {
		return slices.Contains(j.used, taskID(a.ID)) || a.Tasknode == "lost"
	})
}

// free lets a map end, now or when it runs again.
func (j *stagedJob) free(attempt string) {
	j.t.Helper()
	j.freed = append(j.freed, taskID(attempt))
	number, err := strconv.Atoi(attempt[strings.Index(attempt, "_m_")+3 : strings.LastIndex(attempt, "_")])
	must.Do(j.t, err)
	j.unslow(number)
}

// unslow lets a map be quick from now on.
func (j *stagedJob) unslow(number int) {
	j.t.Helper()
	if err := os.Remove(filepath.Join(j.slow, strconv.Itoa(number))); !os.IsNotExist(err) {
		must.Do(j.t, err)
	}
}

// freeSlot lets a running map end that nothing has happened to, unless another one is about to end.
func (j *stagedJob) freeSlot() {
	j.t.Helper()
	running := j.attempts(report.Map, report.Running)
	if slices.ContainsFunc(running, func(a report.Attempt) bool { return slices.Contains(j.freed, taskID(a.ID)) }) {
		return
	}
	if unused := j.unused(); len(unused) > 0 {
		j.used = append(j.used, taskID(unused[0].ID))
		j.free(unused[0].ID)
	}
}

// successor waits for the attempt after one of the same task.
func (j *stagedJob) successor(attempt string) (next report.Attempt) {
	j.t.Helper()
	waitUntil(j.t, attempt+" has a successor", func() bool {
		for _, task := range j.job(j.id).Tasks {
			at := slices.IndexFunc(task.Attempts, func(a report.Attempt) bool { return a.ID == attempt })
			if at >= 0 && at+1 < len(task.Attempts) {
				next = task.Attempts[at+1]
				return true
			}
		}
		j.freeSlot()
		return false
	})
	return next
}

// maps returns the tasks of the job that are maps.
func (j *stagedJob) maps() (found []report.Task) {
	for _, task := range j.job(j.id).Tasks {
		if task.Type == report.Map {
			found = append(found, task)
		}
	}
	return found
}

func (j *stagedJob) want(kind, source, target, text string, left [2]time.Time) {
	j.wants = append(j.wants, wantedArrow{kind, source, target, text, left})
}

// mode returns the form of an order.
func mode(name string) url.Values { return url.Values{"mode": {name}} }

// since returns the time from a moment until now.
func since(at time.Time) [2]time.Time { return [2]time.Time{at, time.Now()} }

// play makes each kind of arrow.
func (j *stagedJob) play() {
	j.t.Helper()
	j.suspendOne()
	j.moveOne()
	gone := j.loseOne()
	for _, c := range []struct {
		verb string
		form url.Values
		text string
	}{{"preempt", mode("kill"), "preempted by kill"}, {"kill", nil, "was killed"}, {"fail", nil, "had failed"}} {
		attempt, at := j.act(c.verb, c.form)
		j.want("retry", attempt, j.successor(attempt).ID, c.text, since(at))
		j.free(attempt)
	}
	j.splitOne()
	end := time.UnixMilli(j.attemptOf(gone).FinishTime)
	j.want("retry", gone, j.successor(gone).ID, "lost", [2]time.Time{end, end})

	long := j.maps()[0].Attempts[0].ID
	for i := 1; i < stagedMaps; i++ {
		j.unslow(i)
	}
	second := j.successor(long)
	j.unslow(0)
	j.want("speculate", long, second.ID, "is tried a second time", [2]time.Time{time.UnixMilli(second.StartTime), time.UnixMilli(second.StartTime)})
	j.awaitSuccess(j.id)
}

// suspendOne suspends an attempt, which resumes when a slot is free.
func (j *stagedJob) suspendOne() {
	j.t.Helper()
	suspended, at := j.act("preempt", mode("suspend"))
	waitUntil(j.t, suspended+" is suspended", func() bool {
		return slices.ContainsFunc(j.engine.attempts(j.id, wire.AttemptState_ATTEMPT_RUNNING), func(a *wire.TaskStatus_Attempt) bool {
			return a.Id == suspended && (a.Suspended || a.SuspendedMillis > 0)
		})
	})
	j.want("resume", suspended, suspended, "has a slot again", since(at))
	j.free(suspended)
}

// moveOne checkpoints an attempt on a tasknode that gets no tasks until it has moved.
func (j *stagedJob) moveOne() {
	j.t.Helper()
	moved, at := j.act("preempt", mode("checkpoint"))
	node := j.attemptOf(moved).Tasknode
	j.done("node", "remove", node)
	next := j.successor(moved)
	kind := "move"
	if next.Tasknode == node {
		kind = "continue"
	}
	j.want(kind, moved, next.ID, "checkpoint of", since(at))
	j.free(moved)
	if status, text := j.b.post("/api/v1/nodes/"+node+"/admit", nil); status != http.StatusOK {
		j.t.Errorf("admit: status %d: %s", status, text)
	}
}

// loseOne kills a tasknode on which a map runs. It joins late, since a task that has a checkpoint
// elsewhere would not be started over.
func (j *stagedJob) loseOne() (gone string) {
	j.t.Helper()
	lost := j.newNode("lost", "--dir", j.t.TempDir(), "--map-slots", "1", "--reduce-slots", "0")
	waitUntil(j.t, "a map runs on the tasknode that will be lost", func() bool {
		for _, a := range j.attempts(report.Map, report.Running) {
			if a.Tasknode == "lost" && !slices.Contains(j.used, taskID(a.ID)) {
				gone = a.ID
			}
		}
		return gone != ""
	})
	j.used = append(j.used, taskID(gone))
	lost.kill()
	return gone
}

// splitOne splits a map. The rest of its range is the map with the highest number.
func (j *stagedJob) splitOne() {
	j.t.Helper()
	split, at := j.act("preempt", mode("split"))
	waitUntil(j.t, "the rest is a task that runs", func() bool {
		maps := j.maps()
		if len(maps) > stagedMaps && len(maps[len(maps)-1].Attempts) > 0 {
			return true
		}
		j.freeSlot()
		return false
	})
	maps := j.maps()
	j.want("split", split, maps[len(maps)-1].Attempts[0].ID, "", since(at))
}

// attemptOf returns an attempt as commands show it.
func (j *stagedJob) attemptOf(id string) (found report.Attempt) {
	for _, task := range j.job(j.id).Tasks {
		for _, a := range task.Attempts {
			if a.ID == id {
				found = a
			}
		}
	}
	return found
}

// short returns the id of an attempt as arrows have it.
func short(attempt string) string { return strings.Join(strings.Split(attempt, "_")[3:], "_") }

// checkArrows compares the arrows of a server with what the test has done.
func (j *stagedJob) checkArrows(b *browser) {
	j.t.Helper()
	var timeline analysis.Timeline
	b.json("/jobs/"+j.id+"/timeline", &timeline)
	page := parsePage(j.t, b.page("/jobs/"+j.id+"/timeline"))
	if timeline.LeftOut > 0 || len(timeline.Arrows) != len(j.wants) {
		j.t.Errorf("%s: %d arrows, %d left out, want %d: %+v", b.root, len(timeline.Arrows), timeline.LeftOut, len(j.wants), timeline.Arrows)
	}
	rows := arrowRows(page)
	for _, w := range j.wants {
		starts := short(w.source) + " "
		at := slices.IndexFunc(timeline.Arrows, func(a analysis.TimelineLink) bool {
			return a.Kind == w.kind && strings.HasPrefix(a.Text, starts) && strings.Contains(a.Text, w.text) && (w.kind == "resume" || strings.Contains(a.Text, ": "+short(w.target)))
		})
		if at < 0 {
			j.t.Errorf("%s: no arrow %+v in %+v", b.root, w, timeline.Arrows)
			continue
		}
		a := timeline.Arrows[at]
		left := time.UnixMilli(a.SourceAt)
		if left.Before(w.left[0].Add(-slack)) || left.After(w.left[1].Add(slack)) {
			j.t.Errorf("%s: %s of %s leaves at %v, want a time from %v to %v", b.root, w.kind, w.source, left, w.left[0], w.left[1])
		}
		if start := j.startOf(w); w.kind != "resume" && (time.UnixMilli(a.At).Sub(start)).Abs() > slack {
			j.t.Errorf("%s: %s of %s arrives at %v, and %s started at %v", b.root, w.kind, w.source, a.At, w.target, start)
		}
		if n := rows[w.kind+" "+w.source+" "+w.target]; n != 1 {
			j.t.Errorf("%s: the table has %d rows of %+v: %v", b.root, n, w, rows)
		}
	}
	if len(rows) != len(j.wants) {
		j.t.Errorf("%s: the table has arrows %v", b.root, rows)
	}
	if n := drawnArrows(page); n != len(j.wants) {
		j.t.Errorf("%s: the picture has %d arrows, want %d", b.root, n, len(j.wants))
	}
	j.checkSums(b)
}

// startOf returns when the target of an arrow started, as commands show it.
func (j *stagedJob) startOf(w wantedArrow) time.Time {
	for _, task := range j.job(j.id).Tasks {
		for _, a := range task.Attempts {
			if a.ID == w.target {
				return time.UnixMilli(a.StartTime)
			}
		}
	}
	return time.Time{}
}

// arrowRows counts the arrows in the table of a timeline by kind, source and target.
func arrowRows(page *shown) map[string]int {
	rows := make(map[string]int)
	for _, t := range page.tables {
		for _, cells := range t.rows {
			for _, c := range cells {
				if len(c.links) == 2 {
					kind, _, _ := strings.Cut(c.text, ":")
					kind = kind[strings.LastIndex(kind, " ")+1:]
					rows[kind+" "+strings.TrimPrefix(c.links[0], "/attempts/")+" "+strings.TrimPrefix(c.links[1], "/attempts/")]++
				}
			}
		}
	}
	return rows
}

// drawnArrows counts the arrows of the picture.
func drawnArrows(page *shown) (n int) {
	for _, path := range page.picture {
		if d, ok := strings.CutPrefix(path, "link "); ok {
			n += strings.Count(d, "C") // curves; each has a head too
		}
	}
	return n
}

// checkSums compares the ledger of preemptions with the counters of the job.
func (j *stagedJob) checkSums(b *browser) {
	j.t.Helper()
	var ledger analysis.Preemptions
	b.json("/jobs/"+j.id+"/preemptions", &ledger)
	counters := j.job(j.id).Counters[counter.GroupJob]
	for name, got := range sumsOf(&ledger) {
		if want := counters[name.Name]; got != want || want == 0 {
			j.t.Errorf("%s: the ledger has %d, the counter %q %d", b.root, got, name.Name, want)
		}
	}
	granted := make(map[string]int)
	for _, m := range ledger.Modes {
		granted[m.Mode] = m.Granted
	}
	for _, mode := range analysis.Modes {
		if granted[mode] != 1 {
			j.t.Errorf("%s: %d orders to %s were granted, want 1: %+v", b.root, granted[mode], mode, ledger)
		}
	}
}
