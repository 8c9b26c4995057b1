package e2e

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/report"
)

// graphInputs are files for programs whose jobs have more stages than two.
type graphInputs struct{ prose, links, small, points string }

func newGraphInputs(t *testing.T) graphInputs {
	t.Helper()
	return graphInputs{
		prose: proseFile(t, "prose", 1<<20),
		links: randomLines(t, "links", 20_000, func(r *rand.Rand) string { return fmt.Sprintf("p%d\tp%d", r.IntN(500), r.IntN(500)) }),
		small: randomLines(t, "small", 300, func(r *rand.Rand) string { return fmt.Sprintf("p%d\tsmall%d", r.IntN(600), r.Uint32()) }),
		points: randomLines(t, "points", 5_000, func(r *rand.Rand) string {
			return fmt.Sprintf("%.3f %.3f", r.NormFloat64()+float64(r.IntN(3)*9), r.NormFloat64())
		}),
	}
}

func randomLines(t *testing.T, name string, n int, line func(r *rand.Rand) string) string {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), 3))
	var text bytes.Buffer
	for range n {
		fmt.Fprintln(&text, line(r))
	}
	return newFile(t, name, text.Bytes())
}

// graphProgram is a bundled program of several stages with the one of maps and
// reduces that writes the same bytes, if there is one.
type graphProgram struct{ args, twin []string }

func (in graphInputs) programs() map[string]graphProgram {
	return map[string]graphProgram{
		"wordcountpipe": {args: []string{"wordcountpipe", in.prose}, twin: []string{"wordcount", in.prose}},
		"streamcount":   {args: []string{"streamcount", in.prose}, twin: []string{"wordcount", in.prose}},
		"pagerankdag":   {args: []string{"pagerankdag", "3", in.links}, twin: []string{"pagerank", "3", in.links}},
		"broadcastjoin": {args: []string{"broadcastjoin", in.small, in.links}, twin: []string{"join", in.small, in.links}},
		"kmeans":        {args: []string{"kmeans", "3", "3", in.points}},
	}
}

// ofOne has one reduce, so that gangs fit a machine with few slots.
var ofOne = []string{"-D", pieces, "-D", "mapreduce.job.reduces=1", "--quiet"}

// TestGraphsWriteTheSameBytes runs programs with pipes, streams, broadcasts and
// rounds embedded, on the smallest cluster and on one of three masters and four
// tasknodes, and their twins of maps and reduces.
func TestGraphsWriteTheSameBytes(t *testing.T) {
	programs := newGraphInputs(t).programs()
	want := make(map[string][]byte)
	for name, p := range programs {
		out := filepath.Join(t.TempDir(), "out")
		done(t, slices.Concat([]string{"run", p.args[0]}, ofOne, p.args[1:], []string{out})...)
		want[name] = parts(t, out, 1)
		if p.twin == nil {
			continue
		}
		out = filepath.Join(t.TempDir(), "twin")
		done(t, slices.Concat([]string{"run", p.twin[0]}, ofOne, p.twin[1:], []string{out})...)
		wantSame(t, want[name], parts(t, out, 1))
	}
	onClusters(t, func(t *testing.T, e *engine) {
		for name, p := range programs {
			out := filepath.Join(t.TempDir(), "out")
			e.done(slices.Concat([]string{"run", p.args[0]}, ofOne, p.args[1:], []string{out})...)
			wantSame(t, parts(t, out, 1), want[name])
		}
	})
}

// gangJob is a streamcount whose gang runs.
type gangJob struct {
	*engine
	in, out string
	id      string
}

func startGangJob(t *testing.T, e *engine) *gangJob {
	t.Helper()
	j := &gangJob{engine: e, in: proseFile(t, "prose", 400<<10), out: filepath.Join(t.TempDir(), "out")}
	j.id = e.submit(slices.Concat([]string{"streamcount"}, slowly, []string{j.in, j.out})...)
	waitUntil(t, "the gang runs", func() bool { return len(j.running()) >= 4 })
	return j
}

// running are the attempts of the gang that run. The stage before it is s0.
func (j *gangJob) running() (found []report.Attempt) {
	for _, task := range j.job(j.id).Tasks {
		for _, a := range task.Attempts {
			if a.State == report.Running && !strings.Contains(a.ID, "_s0_") {
				found = append(found, a)
			}
		}
	}
	return found
}

// succeeds waits for the job and wants the right bytes. It returns how many
// attempts were made at the tasks of the gang, and at those before it, beyond
// one each.
func (j *gangJob) succeeds(t *testing.T) (gang, before int) {
	t.Helper()
	j.done("job", "wait", j.id, "--quiet")
	want := filepath.Join(t.TempDir(), "want")
	done(t, "run", "wordcount", "-D", "mapreduce.job.reduces=2", "--quiet", j.in, want)
	wantSame(t, parts(t, j.out, 2), parts(t, want, 2))
	for _, task := range j.job(j.id).Tasks {
		if strings.Contains(task.ID, "_s0_") {
			before += len(task.Attempts) - 1
		} else {
			gang += len(task.Attempts) - 1
		}
	}
	return gang, before
}

// TestGangStartsAnew ends one member of a gang: all of it starts anew, and
// nothing of what was finished before it.
func TestGangStartsAnew(t *testing.T) {
	j := startGangJob(t, newEngine(t, "--tasknodes", "3", "--map-slots", "2", "--reduce-slots", "2"))
	j.done("task", "kill", j.running()[0].ID)
	if gang, before := j.succeeds(t); gang != 4 || before != 0 {
		t.Errorf("%d attempts were made again at 4 members of the gang, %d before it", gang, before)
	}
}

// TestGangLosesItsTasknode kills the tasknode of a member of a gang.
func TestGangLosesItsTasknode(t *testing.T) {
	j := startGangJob(t, newEngine(t, "--tasknodes", "3", "--map-slots", "2", "--reduce-slots", "2", "--expiry", "2s", "--heartbeat", "200ms"))
	host := j.running()[0].Node
	for _, node := range j.state.Tasknodes {
		if node.Name == host {
			must(t, syscall.Kill(node.PID, syscall.SIGKILL))
		}
	}
	if gang, _ := j.succeeds(t); gang < 4 {
		t.Errorf("%d attempts were made again at 4 members of the gang", gang)
	}
}
