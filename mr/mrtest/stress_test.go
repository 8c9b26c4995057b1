package mrtest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/internal/task/disturb"
	"github.com/hammr/hammr/mr"
)

type (
	bytesCount  = mr.Emitter[[]byte, int64]
	bytesEmit   = mr.Emitter[[]byte, []byte]
	bytesMapper = mr.Mapper[int64, []byte, []byte, []byte]
)

// stressText has lines of two words.
func stressText() string {
	var b strings.Builder
	for i := range 150 {
		fmt.Fprintf(&b, "key%02d value%d\n", i*7%23, i)
	}
	return b.String()
}

// words emits each word with the value 1.
var words = mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out bytesCount) error {
	for w := range mr.Words(line) {
		out.Emit(w, 1)
	}
	return nil
})

// pairs emits the first word of a line with the second.
func pairs(line []byte, out bytesEmit) {
	var two [][]byte
	for w := range mr.Words(line) {
		two = append(two, w)
	}
	out.Emit(two[0], two[1])
}

// grouped returns a job of a mapper that lists the values of each key.
func grouped(name string, m bytesMapper) Job {
	return mr.New(name, mr.TextLines(), m, mr.IdentityReducer[[]byte, []byte](), mr.TextOutput[[]byte, []byte]()).Set("mapreduce.job.reduces", "2")
}

// keeping is a reducer that keeps a view of the greatest value.
var keeping = mr.ReduceFunc(func(_ *mr.Task, key []byte, values iter.Seq[[]byte], out bytesEmit) error {
	var greatest []byte
	for v := range values {
		if string(v) > string(greatest) {
			greatest = v
		}
	}
	out.Emit(key, greatest)
	return nil
})

// pairing emits the pair of each line.
var pairing = mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out bytesEmit) error {
	pairs(line, out)
	return nil
})

// numbering is a mapper whose numbers begin with 1 in each attempt.
type numbering struct{ n int64 }

func (m *numbering) Map(_ *mr.Task, _ int64, line []byte, out bytesEmit) error {
	m.n++
	pairs(fmt.Appendf(line, "-%d", m.n), out)
	return nil
}

// counting is a mapper that emits the number of its lines at the end.
type counting struct{ n int64 }

func (m *counting) Map(_ *mr.Task, _ int64, line []byte, out bytesEmit) error {
	m.n++
	pairs(line, out)
	return nil
}

func (m *counting) Close(_ *mr.Task, out bytesEmit) error {
	out.Emit([]byte("lines"), fmt.Append(nil, m.n))
	return nil
}

// forgetful is a reducer that numbers groups, and is not Stateful.
type forgetful struct{ n int64 }

func (r *forgetful) Reduce(_ *mr.Task, key []byte, _ iter.Seq[[]byte], out bytesEmit) error {
	r.n++
	out.Emit(key, fmt.Append(nil, r.n))
	return nil
}

// TestStressFindsErrors runs a program of each kind of fault.
func TestStressFindsErrors(t *testing.T) {
	out := mr.TextOutput[[]byte, []byte]()
	for name, tt := range map[string]struct {
		job  Job
		want string // a part of what is found
	}{
		"keeps a view": {mr.New("keeps", mr.TextLines(), pairing, keeping, out), "poison alone"},
		"random salt": {grouped("salt", mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out bytesEmit) error {
			pairs(fmt.Appendf(line, "-%d", rand.IntN(1000)), out)
			return nil
		})), "two undisturbed runs differ"},
		"order of a map": {grouped("order", mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out bytesEmit) error {
			for value := range map[string]bool{"a": true, "b": true, "c": true} {
				out.Emit(line[:5], []byte(value))
			}
			return nil
		})), "two undisturbed runs differ"},
		"where splits are":        {grouped("splits", bytesMapper(&counting{})), "It depends on where the input is divided"},
		"state of a mapper":       {grouped("numbers", bytesMapper(&numbering{})), "changes with mapreduce.input.fileinputformat.split.maxsize="},
		"state that is not saved": {mr.New("state", mr.TextLines(), pairing, mr.Reducer[[]byte, []byte, []byte, []byte](&forgetful{}), out), "is checkpointed at"},
		"an attempt that runs again": {grouped("again", mr.MapFunc(func(t *mr.Task, _ int64, line []byte, out bytesEmit) error {
			if strings.HasSuffix(t.ID(), "_0") {
				pairs(line, out)
				return nil
			}
			pairs(append(line, " again"...), out)
			out.Emit([]byte("again"), nil)
			return nil
		})), ", attempt 0: "},
	} {
		t.Run(name, func(t *testing.T) {
			found := stress(t, tt.job, Case{Inputs: []string{stressText()}})
			if poison.Always && name == "keeps a view" {
				if found != "" {
					t.Errorf("found %q, but the undisturbed run has poison too", found)
				}
				return
			}
			if !strings.Contains(found, tt.want) {
				t.Errorf("found %q, want %q", found, tt.want)
			}
			t.Log(found)
		})
	}
}

// TestDescribed describes one disturbance of each kind.
func TestDescribed(t *testing.T) {
	for action, want := range map[disturb.Action]string{
		disturb.Split:      "changes if map 3, attempt 0: is split at record 17. It depends on where the input is divided",
		disturb.Checkpoint: "changes if map 3, attempt 0: is checkpointed at record 17. State that is not in Save is lost",
		disturb.Suspend:    "changes if map 3, attempt 0: is suspended at record 17. It depends on time",
		disturb.Fail:       "changes if map 3, attempt 0: fails at record 17. An attempt that runs again emits other records",
	} {
		if got := described(nil, []disturb.Disturbance{{Stage: "map", Node: 3, Record: 17, Action: action}}); !strings.Contains(got, want) {
			t.Errorf("described as %q, want %q", got, want)
		}
	}
}

// TestStressPassesRightPrograms runs programs that do not depend on how they are run.
func TestStressPassesRightPrograms(t *testing.T) {
	text := mr.TextOutput[[]byte, int64]()
	graph := func(name string, then func(g *mr.Graph, in *mr.Stage[[]byte, []byte])) Job {
		return mr.Define(name, struct{}{}, func(g *mr.Graph, _ struct{}) { then(g, mr.Read(g, "map", mr.TextLines(), pairing)) })
	}
	first := mr.First[[]byte, []byte]()
	for _, job := range []Job{
		mr.New("wordcount", mr.TextLines(), words, mr.Sum[[]byte, int64](), text).Combine(mr.Sum[[]byte, int64]()),
		grouped("list", pairing),
		graph("join", func(g *mr.Graph, in *mr.Stage[[]byte, []byte]) {
			join := mr.CoReduceFunc(func(_ *mr.Task, key []byte, left, right iter.Seq[[]byte], out bytesEmit) error {
				for v := range left {
					out.Emit(key, v)
				}
				for v := range right {
					out.Emit(key, v)
				}
				return nil
			})
			some := mr.Group(g, "first", first, in.Shuffle())
			mr.Write(mr.CoGroup(g, "join", join, some.Shuffle(), in.Shuffle()), mr.TextOutput[[]byte, []byte]())
		}),
		graph("top", func(g *mr.Graph, in *mr.Stage[[]byte, []byte]) {
			mr.Write(mr.Group(g, "first", first, in.Shuffle()).Top(5, mr.ByKey), mr.TextOutput[[]byte, []byte]())
		}),
		graph("piped", func(g *mr.Graph, in *mr.Stage[[]byte, []byte]) {
			each := mr.Each(g, "each", mr.IdentityMapper[[]byte, []byte](), in.Pipe())
			mr.Write(mr.Group(g, "list", mr.IdentityReducer[[]byte, []byte](), each.Shuffle()), mr.TextOutput[[]byte, []byte]())
		}),
	} {
		t.Run(job.Name(), func(t *testing.T) { Stress(t, job, stressText(), stressText()) })
	}
}
