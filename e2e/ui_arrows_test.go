package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/internal/report"
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
	wants []wantedArrow
}

// wantedArrow is an arrow of a timeline.
type wantedArrow struct {
	kind, source, target string
	text                 string       // that its description has
	left                 [2]time.Time // it leaves its source between them
}

const (
	slack  = time.Second      // by which a time of a page may differ from that of the test
	obeyed = 10 * time.Second // in which an attempt obeys an order, on a busy machine too
)

// Maps of the staged job. A slow map takes 10 ms for a record, so a map lasts 10 s at least: enough maps
// wait for a slot for all that the test does, on a busy machine too. The first map outlasts the others.
const (
	stagedMaps   = 18
	stagedLines  = 1000
	firstLines   = 60_000
	slowProperty = "e2e.slow"
)

// Files in the directory that slowProperty names. While one exists, its maps are slow.
const (
	slowFirst = "first"
	slowRest  = "rest"
)

// staged is the job that the test stages: it counts words, and its maps are slow until the test says otherwise.
var staged = mr.New("staged", mr.TextLines(),
	mr.MapFunc(func(t *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
		slow := slowRest
		if t.Part() == 0 {
			slow = slowFirst
		}
		if _, err := os.Stat(filepath.Join(t.Property(slowProperty), slow)); err == nil {
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
		lines := stagedLines
		if i == 0 {
			lines = firstLines
		}
		must(t, os.WriteFile(filepath.Join(in, fmt.Sprintf("file-%02d", i)), bytes.Repeat([]byte("to be or not to be\n"), lines), 0o600))
	}
	for _, name := range []string{slowFirst, slowRest} {
		must(t, os.WriteFile(filepath.Join(slow, name), nil, 0o600))
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

// act makes a change of an attempt that nothing has happened to, the one that started last.
func (j *stagedJob) act(verb string, form url.Values) (attempt string, times [2]time.Time) {
	j.t.Helper()
	waitUntil(j.t, "a map is there for "+verb+form.Encode(), func() bool {
		running := j.attempts(report.Map, report.Running)
		running = slices.DeleteFunc(running, func(a report.Attempt) bool { return slices.Contains(j.used, taskID(a.ID)) || a.Tasknode == "lost" })
		if len(running) == 0 {
			return false
		}
		attempt = slices.MaxFunc(running, func(a, b report.Attempt) int { return int(a.StartTime - b.StartTime) }).ID
		times[0] = time.Now()
		status, _ := j.b.post("/api/v1/attempts/"+attempt+"/"+verb, form)
		times[1] = time.Now().Add(obeyed)
		return status == http.StatusOK
	})
	j.used = append(j.used, taskID(attempt))
	return attempt, times
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
		return false
	})
	return next
}

func (j *stagedJob) want(kind, source, target, text string, left [2]time.Time) {
	j.wants = append(j.wants, wantedArrow{kind, source, target, text, left})
}

// mode returns the form of an order.
func mode(name string) url.Values { return url.Values{"mode": {name}} }

// play makes each kind of arrow.
func (j *stagedJob) play() {
	j.t.Helper()
	suspended, times := j.act("preempt", mode("suspend")) // it resumes when a slot is free
	j.want("resume", suspended, suspended, "has a slot again", times)

	moved, times := j.act("preempt", mode("checkpoint"))
	node := j.attemptOf(moved).Tasknode
	j.done("node", "remove", node)
	next := j.successor(moved)
	kind := "move"
	if next.Tasknode == node {
		kind = "continue"
	}
	j.want(kind, moved, next.ID, "checkpoint of", times)
	if status, text := j.b.post("/api/v1/nodes/"+node+"/admit", nil); status != http.StatusOK {
		j.t.Errorf("admit: status %d: %s", status, text)
	}

	// It joins late, since a task that has a checkpoint elsewhere would not be started over.
	lost := j.newNode("lost", "--dir", j.t.TempDir(), "--map-slots", "1", "--reduce-slots", "0")
	waitUntil(j.t, "a map runs on the tasknode that will be lost", func() bool {
		for _, a := range j.attempts(report.Map, report.Running) {
			if a.Tasknode == "lost" && time.Since(time.UnixMilli(a.StartTime)) < 5*time.Second { // it runs for ten
				j.used, next = append(j.used, taskID(a.ID)), a
				return true
			}
		}
		return false
	})
	gone := next.ID
	lost.kill()

	for _, c := range []struct {
		verb string
		form url.Values
		text string
	}{{"preempt", mode("kill"), "preempted by kill"}, {"kill", nil, "was killed"}, {"fail", nil, "had failed"}} {
		attempt, times := j.act(c.verb, c.form)
		j.want("retry", attempt, j.successor(attempt).ID, c.text, times)
	}
	split, times := j.act("preempt", mode("split"))
	j.want("split", split, "", "", times)
	j.want("retry", gone, j.successor(gone).ID, "lost", [2]time.Time{time.UnixMilli(j.attemptOf(gone).FinishTime), time.UnixMilli(j.attemptOf(gone).FinishTime)})

	must(j.t, os.Remove(filepath.Join(j.slow, slowRest)))
	long := j.job(j.id).Tasks[0].Attempts[0].ID
	second := j.successor(long)
	must(j.t, os.Remove(filepath.Join(j.slow, slowFirst)))
	j.want("speculate", long, second.ID, "is tried a second time", [2]time.Time{time.UnixMilli(second.StartTime), time.UnixMilli(second.StartTime)})
	j.awaitSuccess(j.id)
	j.findRest(split)
}

// findRest completes the arrow of a split: the rest of the range is the task with the highest number.
func (j *stagedJob) findRest(split string) {
	last := ""
	for _, task := range j.job(j.id).Tasks {
		if task.Type == report.Map {
			last = task.Attempts[0].ID
		}
	}
	for i := range j.wants {
		if j.wants[i].kind == "split" {
			j.wants[i].target = last
		}
	}
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
			n += strings.Count(d, "M")
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
