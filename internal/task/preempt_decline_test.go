package task

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage/fault"
	"github.com/hammr/hammr/storage/local"
)

// TestReduceContinuesWhenTheDiskIsFull fails each part of a checkpoint, at any time.
// The reduce declines and loses nothing. Once the disk has space, it obeys the next
// order.
func TestReduceContinuesWhenTheDiskIsFull(t *testing.T) {
	for seed := range testlevel.Seeds(8, 60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 9))
			var tick atomic.Pointer[func()]
			nothing := func() {}
			tick.Store(&nothing)
			ticking := func() string { (*tick.Load())(); return "" }
			here, there := newMachine(t, withoutErrors), newMachine(t, ticking)
			var outputs []*taskproc.MapOutput
			for i := range 6 { // the outputs fit into memory: only the checkpoint merges
				outputs = append(outputs, []*machine{here, there}[i%2].write(t, r, int32(i), 1+r.IntN(1000)))
			}
			want, bytes := readHere(t, outputs)
			p := &reducer{tick: func() { (*tick.Load())() }}
			start := here.startOn(0)
			start.Maps = 6
			full := fault.Rule{
				Op:    []fault.Op{fault.Create, fault.Write, fault.Close}[r.IntN(3)],
				Path:  start.LocalDir + []string{"/checkpoint", "/*checkpoint", "/intake*/merge-*"}[r.IntN(3)],
				Times: 1 + r.IntN(2), Err: syscall.ENOSPC,
			}
			run := startReduceOn(t, p, start, fault.New(local.New(local.Options{}), fault.Options{}, full))
			checkpointAt(&tick, run, int64(1+r.IntN(30)))
			reportAll(r, run, outputs)
			last := <-run.last
			if last.GetPreemptionDeclined() != nil {
				if !strings.Contains(last.GetPreemptionDeclined().Cause, "space") || last.GetPreemptionDeclined().CanSuspend {
					t.Errorf("declined: %v", last)
				}
				run.requestCheckpoint()
				for last.GetPreemptionDeclined() != nil {
					last = <-run.last
				}
			}
			if err := <-run.end; err != nil {
				t.Error(err)
			}
			_ = run.node.Close()
			tick.Store(&nothing)
			if c := last.GetCheckpointed().GetCheckpoint(); c != nil {
				next := from(here.startOn(1), c, here)
				next.Maps = 6
				run := startReduce(t, p, next)
				reportAll(r, run, outputs)
				last = run.finish()
			}
			if last.GetFinished() == nil || p.seen.String() != want {
				t.Fatalf("last message %v", last)
			}
			if c := counters(last.GetFinished().Counters); c["Shuffled Maps"] != 6 || c["Reduce shuffle bytes"] != bytes ||
				c["Reduce input records"] != int64(strings.Count(want, "\n")) {
				t.Errorf("%d bytes; counters %v", bytes, c)
			}
		})
	}
}

// TestMapContinuesWhenTheDiskIsFull declines a checkpoint after the map has published. The
// final output includes the published records.
func TestMapContinuesWhenTheDiskIsFull(t *testing.T) {
	g := dag.MapReduce(1, 2)
	r := newRig(t, g, programFunc(func(n *NodeRun) error {
		m := n.Map()
		opts, err := n.CollectorOptions(n.Outputs()[0])
		if err != nil {
			return err
		}
		b, err := shuffle.NewSortBuffer(n.Attempt.Context(), opts)
		if err != nil {
			return err
		}
		n.SetCollector(n.Outputs()[0], b)
		for at := m.Work().Start.Offset; at < 100; at++ {
			if at == 40 && n.Attempt.declines == 0 {
				<-n.Attempt.signals.checkpointRequested()
			}
			if n.Signalled() {
				if act, err := m.PollSignals(dag.Position{Offset: at}); act == Stop {
					return err
				}
			}
			b.Emit(fmt.Appendf(nil, "%02d", at), nil)
		}
		return nil
	}))
	start := r.start(dag.GroupID{})
	r.server.Local = fault.New(r.server.Local, fault.Options{}, fault.Rule{Op: fault.Create, Path: start.LocalDir + "/checkpoint", Err: syscall.ENOSPC})
	done := r.alone(start, &taskproc.ToTask{Message: &taskproc.ToTask_Preempt{Preempt: &taskproc.Preempt{}}}).GetFinished()
	if len(done.GetOutputs()) != 1 {
		t.Fatalf("done %v", r.mu.last)
	}
	x, err := shuffle.ReadIndex(context.Background(), r.server.Local, done.Outputs[0].Path)
	must.Do(t, err)
	var records int64
	for _, runs := range x.Partitions {
		for _, run := range runs {
			records += run.Records
		}
	}
	if got := counters(done.Counters)[strings.TrimSpace(counter.MapOutputRecords.Name)]; got != 100 || records != 100 {
		t.Errorf("%d records in the output, %d counted", records, got)
	}
	if end := taskproc.ToRange(done.Range).End; end.Offset != 100 {
		t.Errorf("it answers for what comes before %v", end)
	}
}

// TestCheckpointBetweenValuesTakesEffectAtTheNextGroup polls progress between two
// values.
func TestCheckpointBetweenValuesTakesEffectAtTheNextGroup(t *testing.T) {
	m := newMachine(t, withoutErrors)
	outputs := scatter(t, rand.New(rand.NewPCG(3, 3)), 3, m)
	reduces := make(chan struct{})
	p := new(reducer)
	begun := sync.OnceFunc(func() { close(reduces) })
	p.between = func(n *NodeRun) {
		begun()
		<-n.Attempt.signals.checkpointRequested()
	}
	start := m.startOn(0)
	start.Maps = 3
	run := startReduce(t, p, start)
	run.report(true, outputs...)
	<-reduces
	run.requestCheckpoint()
	if last := run.finish(); last.GetCheckpointed() == nil || p.groups != 1 {
		t.Errorf("%d groups, last message %v", p.groups, last)
	}
}

// TestCheckpointWithoutABoundaryIsDeclined withdraws a checkpoint because the Node reaches
// no boundary. A second order is obeyed once the Node reaches one.
func TestCheckpointWithoutABoundaryIsDeclined(t *testing.T) {
	m := newMachine(t, withoutErrors)
	outputs := scatter(t, rand.New(rand.NewPCG(3, 3)), 3, m)
	reduces, boundary := make(chan struct{}), make(chan struct{})
	p := &reducer{tick: sync.OnceFunc(func() {
		close(reduces)
		<-boundary
	})}
	start := m.startOn(0)
	start.Maps, start.Properties = 3, map[string]string{"hammr.preempt.boundary.timeout": "1ms"}
	run := startReduce(t, p, start)
	run.report(true, outputs...)
	<-reduces
	run.requestCheckpoint()
	declined := (<-run.last).GetPreemptionDeclined()
	if !declined.GetCanSuspend() || !strings.Contains(declined.GetCause(), "hammr.preempt.boundary.timeout") {
		t.Errorf("declined: %v", declined)
	}
	close(boundary)
	if last := run.finish(); last.GetFinished() == nil {
		t.Errorf("last message %v", last)
	}
	if want, _ := readHere(t, outputs); p.seen.String() != want {
		t.Error("the records differ from those read here")
	}
}
