package task

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/task/checkpoint"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/storage/fault"
	"github.com/hammr/hammr/storage/local"
)

// startOn returns the Start of attempt n of the reduce on a machine that serves its files.
func (m *machine) startOn(n int) *taskproc.Start {
	attempt := fmt.Sprintf("attempt_1_0001_r_%06d_%d", testPart, n)
	return &taskproc.Start{
		AttemptId: attempt, LocalDir: filepath.Join(m.dir, testJob, taskdir.InJob(attempt)), ShuffleAddress: m.address,
	}
}

// from makes a Start resume from a checkpoint that was written on a machine.
func from(start *taskproc.Start, c *taskproc.Checkpoint, m *machine) *taskproc.Start {
	if start.Checkpoint = proto.CloneOf(c); c != nil && start.ShuffleAddress != m.address {
		start.Checkpoint.Address = m.address
	}
	return start
}

// reencode replaces a checkpoint file by one with the given body.
func reencode(t *testing.T, c *taskproc.Checkpoint, body *taskproc.CheckpointBody) {
	t.Helper()
	b, err := checkpoint.Encode(body)
	must.Do(t, err)
	must.Do(t, os.WriteFile(c.Path, b, 0o600))
	c.Bytes, c.Checksum = int64(len(b)), xxhash.Sum64(b)
}

// TestReduceResumesAnywhere checkpoints a reduce repeatedly, and resumes it on this machine or
// another, over an unreliable network. The records equal the output of one undisturbed
// attempt.
func TestReduceResumesAnywhere(t *testing.T) {
	for seed := range testlevel.Seeds(5, 36) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			var tick atomic.Pointer[func()]
			nothing := func() {}
			tick.Store(&nothing)
			machines := []*machine{
				newMachine(t, withoutErrors), newMachine(t, errorsOneIn(seed, 8)), newMachine(t, withoutErrors),
			}
			outputs := scatter(t, r, 7, machines...)
			want, _ := readHere(t, outputs)
			p := &reducer{tick: func() { (*tick.Load())() }}
			var checkpoint *taskproc.Checkpoint
			var before *machine
			for attempt := 0; ; attempt++ {
				m := machines[r.IntN(len(machines))]
				start := from(m.startOn(attempt), checkpoint, before)
				start.Maps = 7
				run := startReduce(t, p, start)
				checkpointAt(&tick, run, int64(1+r.IntN(40)))
				reportAll(r, run, outputs)
				last := run.finish()
				if checkpoint = last.GetCheckpointed().GetCheckpoint(); checkpoint != nil {
					before = m
					continue
				}
				if last.GetFinished() == nil {
					t.Fatalf("last message %v", last)
				}
				if p.seen.String() != want {
					t.Errorf("after %d checkpoints the records differ from those read here", attempt)
				}
				if c := counters(last.GetFinished().Counters); c["Shuffled Maps"] != 7 {
					t.Errorf("counters %v", c)
				}
				return
			}
		})
	}
}

// checkpointed runs a reduce on a machine and checkpoints it between two groups. It returns
// the checkpoint and the reducer with the groups that it saw.
func checkpointed(t *testing.T, m *machine, outputs []*taskproc.MapOutput) (*taskproc.Checkpoint, *reducer) {
	t.Helper()
	return checkpointedWith(t, m, outputs, func(*taskproc.Start) {})
}

// checkpointedWith does the same as checkpointed, with changes to the Start.
func checkpointedWith(t *testing.T, m *machine, outputs []*taskproc.MapOutput, with func(*taskproc.Start)) (*taskproc.Checkpoint, *reducer) {
	t.Helper()
	p := &reducer{until: 40, reached: make(chan struct{})}
	start := m.startOn(0)
	start.Maps = int32(len(outputs))
	with(start)
	run := startReduce(t, p, start)
	run.report(true, outputs...)
	<-p.reached
	run.requestCheckpoint()
	c := run.finish().GetCheckpointed().GetCheckpoint()
	if c == nil || p.seen.Len() == 0 {
		t.Fatal("not checkpointed within the reduce")
	}
	p.until = 0
	return c, p
}

// TestPhaseShowsWhetherTheCheckpointWasFetched checks that the phase is PhaseResume until
// the checkpoint has been fetched. Until then the attempt needs the draining machine.
func TestPhaseShowsWhetherTheCheckpointWasFetched(t *testing.T) {
	here, there := newMachine(t, withoutErrors), newMachine(t, withoutErrors)
	r := rand.New(rand.NewPCG(5, 5))
	outputs := []*taskproc.MapOutput{there.writeRuns(t, r, 0, 4000, 1), there.writeRuns(t, r, 1, 4000, 1)}
	c, p := checkpointed(t, there, outputs)
	start := from(here.startOn(1), c, there)
	start.Maps = 2
	var asked atomic.Int64
	let := make(chan struct{})
	there.choose = func() string {
		if asked.Add(1) > 1 { // the request is not for the checkpoint file
			<-let
		}
		return ""
	}
	run := startReduce(t, p, start)
	if phase := <-run.phases; phase != taskproc.PhaseResume {
		t.Errorf("with the checkpoint on its way the attempt is in phase %q", phase)
	}
	close(let)
	for <-run.phases == taskproc.PhaseResume { // its inputs are reported only below
		continue
	}
	run.report(true, outputs...)
	if last := run.finish(); last.GetFinished() == nil {
		t.Fatalf("last message %v", last)
	}
}

// TestReduceFetchesOnlyTheRemainingRuns counts the bytes that another machine sends.
func TestReduceFetchesOnlyTheRemainingRuns(t *testing.T) {
	here, there := newMachine(t, withoutErrors), newMachine(t, withoutErrors)
	r := rand.New(rand.NewPCG(3, 3))
	outputs := []*taskproc.MapOutput{there.writeRuns(t, r, 0, 40_000, 1), there.writeRuns(t, r, 1, 40_000, 1)}
	want, all := readHere(t, outputs)
	c, p := checkpointed(t, there, outputs)
	start := from(here.startOn(1), c, there)
	start.Maps = 2
	run := startReduce(t, p, start)
	run.report(true, outputs...)
	last := run.finish()
	if last.GetFinished() == nil || p.seen.String() != want {
		t.Fatalf("last message %v", last)
	}
	var copied int64
	files, err := filepath.Glob(filepath.Join(start.LocalDir, "resumed", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: nothing was copied", err)
	}
	for _, name := range files {
		info, err := os.Stat(name)
		must.Do(t, err)
		copied += info.Size()
	}
	if copied >= all {
		t.Errorf("%d bytes copied of %d, after a part was reduced", copied, all)
	}
}

// TestReduceResumesOnItsMachineWithoutCopies checks that a reduce on the checkpoint's
// machine reads the files in place.
func TestReduceResumesOnItsMachineWithoutCopies(t *testing.T) {
	m := newMachine(t, withoutErrors)
	outputs := scatter(t, rand.New(rand.NewPCG(3, 3)), 3, m)
	want, _ := readHere(t, outputs)
	c, p := checkpointed(t, m, outputs)
	start := from(m.startOn(1), c, m)
	start.Maps = 3
	m.choose = func() string { t.Error("the machine sends itself requests"); return "error" }
	run := startReduce(t, p, start)
	run.report(true, outputs...)
	if last := run.finish(); last.GetFinished() == nil || p.seen.String() != want {
		t.Errorf("last message %v", last)
	}
	if _, err := os.Stat(filepath.Join(start.LocalDir, "resumed")); err == nil {
		t.Error("files were copied")
	}
}

// spoil makes a checkpoint, or a file that it names, unusable.
type spoil func(*testing.T, *taskproc.Checkpoint, []*taskproc.MapOutput)

// rewriteFile changes the bytes of a file.
func rewriteFile(t *testing.T, path string, change func(b []byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	must.Do(t, err)
	must.Do(t, os.WriteFile(path, change(b), 0o600))
}

func damage(change func(b []byte) []byte) spoil {
	return func(t *testing.T, c *taskproc.Checkpoint, _ []*taskproc.MapOutput) { rewriteFile(t, c.Path, change) }
}

// rewrite makes a checkpoint that verifies but has another content.
func rewrite(change func(*taskproc.CheckpointBody)) spoil {
	return func(t *testing.T, c *taskproc.Checkpoint, _ []*taskproc.MapOutput) {
		b, err := os.ReadFile(c.Path)
		must.Do(t, err)
		body, err := checkpoint.Decode(b)
		must.Do(t, err)
		change(body)
		reencode(t, c, body)
	}
}

var spoils = map[string]spoil{
	"truncated":              damage(func(b []byte) []byte { return b[:len(b)/2] }),
	"flipped":                damage(func(b []byte) []byte { b[len(b)/2] ^= 4; return b }),
	"empty":                  damage(func([]byte) []byte { return nil }),
	"of another job":         rewrite(func(b *taskproc.CheckpointBody) { b.JobId = "job_1_0002" }),
	"of another task":        rewrite(func(b *taskproc.CheckpointBody) { b.Task++ }),
	"that names other files": rewrite(func(b *taskproc.CheckpointBody) { b.Nodes[0].Merge[0].Path = "/etc/passwd" }),
	"of another node":        rewrite(func(b *taskproc.CheckpointBody) { b.Nodes[0].Node++ }),
	"of other nodes":         rewrite(func(b *taskproc.CheckpointBody) { b.Nodes = append(b.Nodes, b.Nodes[0]) }),
	"gone": func(t *testing.T, c *taskproc.Checkpoint, _ []*taskproc.MapOutput) {
		must.Do(t, os.Remove(c.Path))
	},
	"of another version": func(t *testing.T, c *taskproc.Checkpoint, _ []*taskproc.MapOutput) {
		rewriteFile(t, c.Path, func(b []byte) []byte { b[len("HAMMRCKP")]++; c.Checksum = xxhash.Sum64(b); return b })
	},
	"whose files are gone": func(t *testing.T, _ *taskproc.Checkpoint, outputs []*taskproc.MapOutput) {
		for _, o := range outputs {
			must.Do(t, os.Remove(o.Path))
		}
	},
	"whose files are damaged": func(t *testing.T, _ *taskproc.Checkpoint, outputs []*taskproc.MapOutput) {
		for _, o := range outputs {
			rewriteFile(t, o.Path, func(b []byte) []byte {
				for i := len(b) / 4; i < len(b); i += 50 {
					b[i] ^= 16
				}
				return b
			})
		}
	},
}

// TestUnusableCheckpoint spoils checkpoints, or files that they name. Each failure
// blames the checkpoint.
func TestUnusableCheckpoint(t *testing.T) {
	for name, spoil := range spoils {
		for _, where := range []string{"here", "elsewhere"} {
			t.Run(name+" "+where, func(t *testing.T) {
				first := newMachine(t, withoutErrors)
				outputs := scatter(t, rand.New(rand.NewPCG(3, 3)), 3, first)
				c, p := checkpointed(t, first, outputs)
				seen := bytes.Clone(p.seen.Bytes())
				spoil(t, c, outputs)
				second := first
				if where == "elsewhere" {
					second = newMachine(t, withoutErrors)
				}
				start := from(second.startOn(1), c, first)
				start.Maps = 3
				run := startReduce(t, p, start)
				run.report(true, outputs...)
				f := run.finish().GetFailure()
				if !f.GetBadCheckpoint() || f.GetFatal() || f.GetStack() != "" {
					t.Errorf("failure %v", f)
				}
				if where == "elsewhere" && !bytes.Equal(seen, p.seen.Bytes()) {
					t.Error("it began to reduce before everything was there")
				}
			})
		}
	}
}

func TestCheckpointOfALostMachine(t *testing.T) {
	m := newMachine(t, withoutErrors)
	start := m.startOn(1)
	start.Checkpoint = &taskproc.Checkpoint{Path: "/d/" + testJob + "/attempt_1_0001_r_000001_0/checkpoint", Bytes: 100, Address: deadAddress(t)}
	start.Properties = map[string]string{"hammr.shuffle.fetch.timeout": "50ms"}
	f := startReduce(t, new(reducer), start).finish().GetFailure()
	if !f.GetBadCheckpoint() || !strings.Contains(f.GetCause(), start.Checkpoint.Address) {
		t.Errorf("failure %v", f)
	}
	start.Checkpoint.MachineLost = true
	if f := startReduce(t, new(reducer), start).finish().GetFailure(); !f.GetBadCheckpoint() {
		t.Errorf("failure %v", f)
	}
}

// TestCheckpointCopyReplacesALostMachine checks that a reduce resumes from the copy if the
// machine is lost, does not answer, or has damaged files.
func TestCheckpointCopyReplacesALostMachine(t *testing.T) {
	for name, lose := range map[string]func(*testing.T, *taskproc.Checkpoint){
		"lost":   func(_ *testing.T, c *taskproc.Checkpoint) { c.MachineLost = true },
		"silent": func(t *testing.T, c *taskproc.Checkpoint) { c.Address = deadAddress(t) },
		"damaged": func(t *testing.T, c *taskproc.Checkpoint) {
			rewriteFile(t, c.Path, func(b []byte) []byte { return b[1:] })
		},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := newMachine(t, withoutErrors), newMachine(t, withoutErrors)
			outputs := scatter(t, rand.New(rand.NewPCG(3, 3)), 5, first, second)
			want, _ := readHere(t, outputs)
			output := t.TempDir()
			c, p := checkpointedWith(t, first, outputs, func(start *taskproc.Start) {
				start.OutputDir = "file://" + output
				start.Properties = map[string]string{"hammr.preempt.checkpoint.copies": "output"}
			})
			if c.Copy == nil || !strings.HasPrefix(c.Copy.Path, "file:"+output+"/checkpoints/") {
				t.Fatalf("checkpoint %v", c)
			}
			start := from(second.startOn(1), c, first)
			start.Maps, start.Properties = 5, map[string]string{"hammr.shuffle.fetch.timeout": "1h"} // no time is wasted on a lost machine
			lose(t, start.Checkpoint)
			run := startReduce(t, p, start)
			run.report(true, outputs...)
			if last := run.finish(); last.GetFinished() == nil || p.seen.String() != want {
				t.Errorf("last message %v", last)
			}
		})
	}
}

// TestForbiddenFilesComeFromTheServer checks that a reduce resumes from files of this machine that
// only the tasknode may read.
func TestForbiddenFilesComeFromTheServer(t *testing.T) {
	m := newMachine(t, withoutErrors)
	outputs := scatter(t, rand.New(rand.NewPCG(3, 3)), 5, m)
	want, _ := readHere(t, outputs)
	c, p := checkpointedWith(t, m, outputs, func(*taskproc.Start) {})
	start := from(m.startOn(1), c, m)
	start.Maps = 5
	disk := fault.New(local.New(local.Options{}), fault.Options{}, fault.Rule{Op: fault.Open, Path: filepath.Dir(c.Path) + "/*", Err: fs.ErrPermission})
	run := startReduceOn(t, p, start, disk)
	run.report(true, outputs...)
	if last := run.finish(); start.Checkpoint.Address != "" || last.GetFinished() == nil || p.seen.String() != want {
		t.Errorf("last message %v", last)
	}
	if files, err := filepath.Glob(filepath.Join(start.LocalDir, "resumed", "*")); err != nil || len(files) == 0 {
		t.Errorf("files that were fetched: %q, %v", files, err)
	}
}

// TestUncopyableCheckpoint checks that a checkpoint is complete without its copy.
func TestUncopyableCheckpoint(t *testing.T) {
	m := newMachine(t, withoutErrors)
	outputs := scatter(t, rand.New(rand.NewPCG(3, 3)), 2, m)
	c, _ := checkpointedWith(t, m, outputs, func(start *taskproc.Start) {
		start.OutputDir = "file:///dev/null/none"
		start.Properties = map[string]string{"hammr.preempt.checkpoint.copies": "output"}
	})
	if c.Copy != nil {
		t.Errorf("checkpoint %v", c)
	}
}

// TestKilledWhileItFetches kills an attempt that waits for its checkpoint.
func TestKilledWhileItFetches(t *testing.T) {
	asked := make(chan struct{}, 100)
	m := newMachine(t, func() string { asked <- struct{}{}; return "error" })
	start := newMachine(t, withoutErrors).startOn(1)
	start.Checkpoint = &taskproc.Checkpoint{Path: "/d/" + testJob + "/attempt_1_0001_r_000001_0/checkpoint", Bytes: 100, Address: m.address}
	run := startReduce(t, new(reducer), start)
	<-asked
	run.send(&taskproc.ToTask{Message: &taskproc.ToTask_Kill{Kill: &taskproc.Kill{Cause: "enough"}}})
	if last := run.finish(); last.GetExited() == nil {
		t.Errorf("last message %v", last)
	}
}

// TestUserCodeThatFailsAfterAResume checks that a failure of user code does not blame the
// checkpoint.
func TestUserCodeThatFailsAfterAResume(t *testing.T) {
	m := newMachine(t, withoutErrors)
	outputs := scatter(t, rand.New(rand.NewPCG(3, 3)), 3, m)
	c, p := checkpointed(t, m, outputs)
	p.tick = func() { panic("user code") }
	start := from(m.startOn(1), c, m)
	start.Maps = 3
	run := startReduce(t, p, start)
	run.report(true, outputs...)
	if f := run.finish().GetFailure(); f.GetBadCheckpoint() || !strings.Contains(f.GetCause(), "user code") {
		t.Errorf("failure %v", f)
	}
}
