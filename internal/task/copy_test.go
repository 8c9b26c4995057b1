package task

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// scatter writes the outputs of maps on machines in turn.
func scatter(t testing.TB, r *rand.Rand, maps int, machines ...*machine) []*taskproc.MapOutput {
	t.Helper()
	var outputs []*taskproc.MapOutput
	for i := range maps {
		outputs = append(outputs, machines[i%len(machines)].write(t, r, int32(i), 1+r.IntN(9000)))
	}
	return outputs
}

// reportAll reports outputs in random order and in random portions.
func reportAll(r *rand.Rand, run *reduceRun, outputs []*taskproc.MapOutput) {
	order := r.Perm(len(outputs))
	for len(order) > 0 {
		var some []*taskproc.MapOutput
		for _, i := range order[:1+r.IntN(len(order))] {
			some = append(some, outputs[i])
		}
		order = order[len(some):]
		run.report(len(order) == 0, some...)
	}
}

// TestReduceReadsTheSameFromEverywhere reads local files, and the same files over an
// unreliable network. The order of the records and the counters must be the same.
func TestReduceReadsTheSameFromEverywhere(t *testing.T) {
	for seed := range testlevel.Seeds(5, 36) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			machines := []*machine{
				newMachine(t, withoutErrors), newMachine(t, errorsOneIn(seed, 3)), newMachine(t, errorsOneIn(seed, 30)),
			}
			outputs := scatter(t, r, 1+r.IntN(9), machines...)
			want, bytes := readHere(t, outputs)
			p := new(reducer)
			run := startReduce(t, p, &taskproc.Start{
				Maps: int32(len(outputs)), ShuffleAddress: machines[0].address,
				Properties: map[string]string{"mapreduce.reduce.shuffle.parallelcopies": fmt.Sprint(1 + r.IntN(6))},
			})
			reportAll(r, run, outputs)
			last := run.finish()
			if last.GetFinished() == nil {
				t.Fatalf("last message %v", last)
			}
			if p.seen.String() != want {
				t.Error("the records differ from those read here")
			}
			c := counters(last.GetFinished().Counters)
			if c["Shuffled Maps"] != int64(len(outputs)) || c["Reduce shuffle bytes"] != bytes ||
				c["Reduce input records"] != int64(strings.Count(want, "\n")) {
				t.Errorf("%d maps, %d bytes; counters %v", len(outputs), bytes, c)
			}
		})
	}
}

// TestReduceCheckpointsAnywhere checkpoints a reduce repeatedly, while it copies and
// while it reduces, and resumes it each time.
func TestReduceCheckpointsAnywhere(t *testing.T) {
	for seed := range testlevel.Seeds(5, 36) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			var tick atomic.Pointer[func()]
			ticking := func(choose func() string) func() string {
				return func() string { (*tick.Load())(); return choose() }
			}
			nothing := func() {}
			tick.Store(&nothing)
			machines := []*machine{
				newMachine(t, withoutErrors), newMachine(t, ticking(errorsOneIn(seed, 8))), newMachine(t, ticking(withoutErrors)),
			}
			outputs := scatter(t, r, 7, machines...)
			want, bytes := readHere(t, outputs)
			p := &reducer{tick: func() { (*tick.Load())() }}
			var checkpoint *taskproc.Checkpoint
			for attempt := 0; ; attempt++ {
				run := startReduce(t, p, &taskproc.Start{
					Maps: 7, ShuffleAddress: machines[0].address, Checkpoint: checkpoint, LocalDir: t.TempDir(),
				})
				checkpointAt(&tick, run, int64(1+r.IntN(30)))
				reportAll(r, run, outputs)
				last := run.finish()
				if checkpoint = last.GetCheckpointed().GetCheckpoint(); checkpoint != nil {
					continue
				}
				if last.GetFinished() == nil {
					t.Fatalf("last message %v", last)
				}
				if p.seen.String() != want {
					t.Errorf("after %d checkpoints the records differ from those read here", attempt)
				}
				if c := counters(last.GetFinished().Counters); c["Shuffled Maps"] != 7 || c["Reduce shuffle bytes"] != bytes {
					t.Errorf("%d bytes; counters %v", bytes, c)
				}
				return
			}
		})
	}
}

// checkpointAt requests a checkpoint at the n-th tick.
func checkpointAt(tick *atomic.Pointer[func()], run *reduceRun, n int64) {
	var ticks atomic.Int64
	f := func() {
		if ticks.Add(1) == n {
			run.requestCheckpoint()
		}
	}
	tick.Store(&f)
}

func TestReduceNamesTheLostMap(t *testing.T) {
	m := newMachine(t, withoutErrors)
	outputs := scatter(t, rand.New(rand.NewPCG(1, 1)), 3, m)
	must.Do(t, os.Remove(outputs[1].Path))
	run := startReduce(t, new(reducer), &taskproc.Start{Maps: 3})
	run.report(true, outputs...)
	f := run.finish().GetFailure()
	if f.GetLostMapAttempt() != outputs[1].Attempt || f.GetFatal() || f.GetLostMapUnreached() {
		t.Errorf("failure %v", f)
	}
}

// TestReduceGivesUpALostMachine checks that a reduce reports a lost output after
// hammr.shuffle.fetch.timeout.
func TestReduceGivesUpALostMachine(t *testing.T) {
	o := scatter(t, rand.New(rand.NewPCG(1, 1)), 1, newMachine(t, withoutErrors))[0]
	o.Address = deadAddress(t)
	run := startReduce(t, new(reducer), &taskproc.Start{Maps: 1, Properties: map[string]string{"hammr.shuffle.fetch.timeout": "50ms"}})
	run.report(true, o)
	if f := run.finish().GetFailure(); f.GetLostMapAttempt() != o.Attempt || !f.GetLostMapUnreached() || !strings.Contains(f.GetCause(), o.Address) {
		t.Errorf("failure %v", f)
	}
}

// deadAddress returns an address on which no process listens.
func deadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer l.Close()
	return l.Addr().String()
}

// TestReduceTakesTheNewerOutput runs a map again, on another machine or on the reduce's own.
// The new output replaces an output that cannot be fetched.
func TestReduceTakesTheNewerOutput(t *testing.T) {
	for _, near := range []bool{false, true} {
		var once sync.Once
		asked := make(chan struct{})
		dead := newMachine(t, func() string { once.Do(func() { close(asked) }); return "error" })
		alive := newMachine(t, withoutErrors)
		r := rand.New(rand.NewPCG(1, 1))
		old := dead.write(t, r, 0, 3000)
		again := alive.write(t, r, 0, 3000)
		again.Attempt = "attempt_1_0001_m_000000_1"
		must.Do(t, os.Rename(filepath.Join(alive.dir, testJob, taskdir.InJob(old.Attempt)), filepath.Join(alive.dir, testJob, taskdir.InJob(again.Attempt))))
		again.Path = strings.Replace(again.Path, old.Attempt, again.Attempt, 1)
		start := &taskproc.Start{Maps: 1}
		if near {
			start.ShuffleAddress = alive.address
		}
		p := new(reducer)
		run := startReduce(t, p, start)
		run.report(true, old)
		<-asked
		run.report(true, old, again)
		last := run.finish()
		want, _ := readHere(t, []*taskproc.MapOutput{again})
		if last.GetFinished() == nil || p.seen.String() != want {
			t.Errorf("near %t: last message %v", near, last)
		}
	}
}

func TestReduceEndsWhenKilled(t *testing.T) {
	asked := make(chan struct{}, 100)
	m := newMachine(t, func() string { asked <- struct{}{}; return "error" })
	outputs := scatter(t, rand.New(rand.NewPCG(1, 1)), 3, m)
	run := startReduce(t, new(reducer), &taskproc.Start{Maps: 3})
	run.report(true, outputs...)
	<-asked
	run.send(&taskproc.ToTask{Message: &taskproc.ToTask_Kill{Kill: &taskproc.Kill{Cause: "enough"}}})
	if last := run.finish(); last.GetExited() == nil {
		t.Errorf("last message %v", last)
	}
}

// TestReduceWithAnotherToken checks that a reduce with a wrong token fails without blaming a
// map.
func TestReduceWithAnotherToken(t *testing.T) {
	o := scatter(t, rand.New(rand.NewPCG(1, 1)), 1, newMachine(t, withoutErrors))[0]
	run := startReduce(t, new(reducer), &taskproc.Start{Maps: 1, ShuffleToken: "another"})
	run.report(true, o)
	if f := run.finish().GetFailure(); f.GetLostMapAttempt() != "" || !strings.Contains(f.GetCause(), "token") {
		t.Errorf("failure %v", f)
	}
}

// TestReduceSkipsEmptyPartitions checks that a reduce does not request partitions that are
// known to be empty.
func TestReduceSkipsEmptyPartitions(t *testing.T) {
	o := scatter(t, rand.New(rand.NewPCG(1, 1)), 1, newMachine(t, withoutErrors))[0]
	o.Address, o.Empty = deadAddress(t), taskproc.EmptySet([]int64{5, 0})
	p := new(reducer)
	run := startReduce(t, p, &taskproc.Start{Maps: 1})
	run.report(true, o)
	if last := run.finish(); last.GetFinished() == nil || counters(last.GetFinished().Counters)["Shuffled Maps"] != 1 || p.seen.Len() > 0 {
		t.Errorf("last message %v", last)
	}
}

// TestReduceWaitsForTheNextOutputOfARevokedOne checks that a reduce does not report a
// revoked output as lost, however long the replacement takes.
func TestReduceWaitsForTheNextOutputOfARevokedOne(t *testing.T) {
	var once sync.Once
	asked := make(chan struct{})
	dead := newMachine(t, func() string { once.Do(func() { close(asked) }); return "error" })
	alive := newMachine(t, withoutErrors)
	r := rand.New(rand.NewPCG(1, 1))
	old, again := dead.write(t, r, 0, 3000), alive.write(t, r, 0, 3000)
	p := new(reducer)
	run := startReduce(t, p, &taskproc.Start{Maps: 1, Properties: map[string]string{"hammr.shuffle.fetch.timeout": "1m"}})
	run.report(true, old)
	<-asked
	run.send(&taskproc.ToTask{Message: &taskproc.ToTask_Outputs{Outputs: &taskproc.Outputs{Revoked: []string{old.Attempt}, Complete: true}}})
	run.report(true, again) // the output of one attempt, offered again by its machine
	last := run.finish()
	want, _ := readHere(t, []*taskproc.MapOutput{again})
	if last.GetFinished() == nil || p.seen.String() != want {
		t.Errorf("last message %v", last)
	}
}

// TestNewsJoinMessages posts two messages before a reader takes them. Revocations come before outputs.
func TestNewsJoinMessages(t *testing.T) {
	output := func(attempt, address string) *taskproc.MapOutput {
		return &taskproc.MapOutput{Attempt: attempt, Address: address}
	}
	var b outputBoard
	b.post(&taskproc.Outputs{Outputs: []*taskproc.MapOutput{output("x", "1")}})
	s := b.subscribe([]int{0})
	s.take()
	b.post(&taskproc.Outputs{Outputs: []*taskproc.MapOutput{output("a", "1"), output("b", "1")}, Revoked: []string{"x"}})
	b.post(&taskproc.Outputs{Outputs: []*taskproc.MapOutput{output("a", "2")}, Revoked: []string{"a", "y"}, Complete: true})
	want := &taskproc.Outputs{
		Outputs: []*taskproc.MapOutput{output("b", "1"), output("a", "2")}, Revoked: []string{"x", "a", "y"}, Complete: true,
	}
	if update := s.take()[0]; !proto.Equal(update, want) {
		t.Errorf("joined to %v", update)
	}
}
