package mr

import (
	"fmt"
	"iter"
	"maps"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// sticky is a mapper and a reducer whose state cannot be saved.
type sticky struct{}

func (sticky) Map(_ *Task, offset int64, line []byte, out Emitter[string, int64]) error {
	out.Emit(string(line), offset)
	return nil
}

func (sticky) Reduce(_ *Task, key string, values iter.Seq[int64], out Emitter[string, int64]) error {
	for v := range values {
		out.Emit(key, v)
	}
	return nil
}

func (sticky) NotResumable() {}

// countingOn is a sticky with the methods Save and Load.
type countingOn struct{ sticky }

func (countingOn) Save() ([]byte, error) { return nil, nil }
func (countingOn) Load([]byte) error     { return nil }

// numbered is a mapper with the methods Save and Load only.
type numbered struct{ *counted }

type counted struct{}

func (*counted) Map(_ *Task, offset int64, line []byte, out Emitter[string, int64]) error {
	out.Emit(string(line), offset)
	return nil
}
func (*counted) Save() ([]byte, error) { return nil, nil }
func (*counted) Load([]byte) error     { return nil }

// TestModesDisallowedByTypes checks the preemption modes that a job disallows. They follow from the
// types of its functions.
func TestModesDisallowedByTypes(t *testing.T) {
	plain := MapFunc(func(_ *Task, offset int64, line []byte, out Emitter[string, int64]) error {
		out.Emit(string(line), offset)
		return nil
	})
	sum, out := Sum[string, int64](), TextOutput[string, int64]()
	for name, tt := range map[string]struct {
		job  anyJob
		want map[string]string
	}{
		"plain":               {New("j", TextLines(), plain, sum, out), nil},
		"a mapper's state":    {New("j", TextLines(), Mapper[int64, []byte, string, int64](numbered{}), sum, out), map[string]string{"map": "split"}},
		"a reducer's process": {New("j", TextLines(), plain, Reducer[string, int64, string, int64](sticky{}), out), map[string]string{"reduce": "split,checkpoint"}},
		"one of both":         {New("j", TextLines(), Mapper[int64, []byte, string, int64](countingOn{}), sum, out), map[string]string{"map": "split,checkpoint"}},
		"one of two mappers": {AddInput(New("j", TextLines(), plain, sum, out), TextLines(), Mapper[int64, []byte, string, int64](numbered{})),
			map[string]string{"map": "split"}},
		"a graph's stages": {mapAndReduce("j", sticky{}, func(g *Graph, in *Stage[string, int64]) {
			Write(Group(g, "reduce", Reducer[string, int64, string, int64](sticky{}), in.Shuffle()), out)
		}), map[string]string{"map": "split,checkpoint", "reduce": "split,checkpoint"}},
		"files and a side": {mapAndReduce("j", plain, func(g *Graph, in *Stage[string, int64]) {
			reduce := With(Group(g, "reduce", sum, in.Shuffle()), Group(g, "side", sum, in.Keep()).Broadcast())
			Write(reduce, out)
		}), nil},
	} {
		got := detailsOf(t, tt.job).disallowedIn(dag.MapReduce(1, 1))
		if !maps.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	job := New("j", TextLines(), plain, Reducer[string, int64, string, int64](sticky{}), out)
	if got := detailsOf(t, job).disallowedIn(dag.MapReduce(1, 0)); len(got) != 0 {
		t.Errorf("a reducer that is left out: %v", got)
	}
}

// TestStatefulMappersCheckpointOnASplit orders mappers with state to split. A resumable
// mapper writes a checkpoint instead. A mapper that is not resumable keeps running to its
// end.
func TestStatefulMappersCheckpointOnASplit(t *testing.T) {
	for name, tt := range map[string]struct {
		mapper func(touch func(*Task)) Mapper[int64, []byte, string, int64]
		paused bool
	}{
		"stateful": {func(touch func(*Task)) Mapper[int64, []byte, string, int64] { return touching{touch, &counted{}} }, true},
		"not resumable": {func(touch func(*Task)) Mapper[int64, []byte, string, int64] {
			return untouched{touching{touch, &counted{}}}
		}, false},
	} {
		var n *node
		job := New("j", TextLines(), tt.mapper(func(t *Task) { n.touch(t) }), Sum[string, int64](), TextOutput[string, int64]())
		n = newNode(t, job, 1, nil)
		split := cutInputs(t, job, 1000, inputFile{"", []byte("a\nb\nc\nd\n")})[0]
		start := n.cloneStart(taskproc.Kind_MAP, 0)
		start.Split, start.Range = split, messageOf(splitOf(split, Range{}).Whole())
		last := n.attempt(start, 2, stopOrder)
		if paused := last.GetCheckpointed() != nil; paused != tt.paused {
			t.Errorf("%s: %v", name, last)
		}
		if done := last.GetFinished(); done != nil && done.Range.End.Offset != 8 {
			t.Errorf("%s: it ends at %v", name, done.Range)
		}
	}
}

type touching struct {
	touch func(*Task)
	*counted
}

func (m touching) Map(t *Task, offset int64, line []byte, out Emitter[string, int64]) error {
	m.touch(t)
	return m.counted.Map(t, offset, line, out)
}

type untouched struct{ touching }

func (untouched) NotResumable() {}

// unsaved counts bytes and emits the count in Close. Its state cannot be saved.
type unsaved struct {
	touch func(*Task)
	n     int64
}

func (u *unsaved) Map(t *Task, _ int64, line []byte, _ Emitter[string, int64]) error {
	u.touch(t)
	u.n += int64(len(line))
	return nil
}

func (u *unsaved) Close(_ *Task, out Emitter[string, int64]) error {
	out.Emit("bytes", u.n)
	return nil
}

// TestLastProgressReportIsNotLost uses a mapper with Close but without Save. It obeys an
// order to split and keeps running after an order to checkpoint. It declines to split if
// the cut would be visible in its output.
func TestLastProgressReportIsNotLost(t *testing.T) {
	text, sequences := TextOutput[string, int64](), SequenceOutput(TextString, LongWritable)
	for name, tt := range map[string]struct {
		output   Output[string, int64]
		order    *taskproc.ToTask
		end      int64 // end of the completed range
		declined bool
	}{
		"cut":                     {text, stopOrder, 2, false},
		"paused":                  {text, pauseOrder, 8, false},
		"cut where it would show": {sequences, stopOrder, 8, true},
	} {
		t.Run(name, func(t *testing.T) {
			var n *node
			job := MapOnly("j", TextLines(), Mapper[int64, []byte, string, int64](&unsaved{touch: func(t *Task) { n.touch(t) }}), tt.output)
			n = newNode(t, job, 0, nil)
			if got := detailsOf(t, job).disallowedIn(dag.MapReduce(1, 0))["map"]; got != "checkpoint" {
				t.Errorf("it does not bear %q", got)
			}
			declined := false
			n.onDecline = func() { declined = true }
			start := n.cloneStart(taskproc.Kind_MAP, 0)
			start.Split = cutInputs(t, job, 1000, inputFile{"", []byte("a\nb\nc\nd\n")})[0]
			start.Range = messageOf(splitOf(start.Split, Range{}).Whole())
			done := n.attempt(start, 1, tt.order).GetFinished()
			if done.GetRange().GetEnd().GetOffset() != tt.end || declined != tt.declined {
				t.Fatalf("declined: %v, done: %v", declined, done)
			}
			if out := n.textOf(done.Pieces); tt.output == text && out != fmt.Sprintf("bytes\t%d\n", tt.end/2) {
				t.Errorf("output %q", out)
			}
		})
	}
}
