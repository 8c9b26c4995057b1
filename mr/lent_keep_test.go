package mr_test

import (
	"iter"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

type bytesEmitter = mr.Emitter[[]byte, []byte]

// keepsRecord is a mapper that emits the record before the current one, of which it keeps a view.
type keepsRecord struct{ key, value []byte }

func (m *keepsRecord) Map(_ *mr.Task, key, value []byte, out bytesEmitter) error {
	if m.key != nil {
		out.Emit(m.key, m.value)
	}
	m.key, m.value = key, value
	return nil
}

// keepsGroup is a reducer, of one or of two channels, that keeps views of values to the end of
// their group.
type keepsGroup struct{}

func (keepsGroup) Reduce(_ *mr.Task, key []byte, values iter.Seq[[]byte], out bytesEmitter) error {
	var kept [][]byte
	for v := range values {
		kept = append(kept, v)
	}
	for _, v := range kept {
		out.Emit(key, v)
	}
	return nil
}

// keepsPair is a CoReducer that keeps views of the values of one side, chosen by right.
type keepsPair struct{ right bool }

func (r keepsPair) Reduce(t *mr.Task, key []byte, left, right iter.Seq[[]byte], out bytesEmitter) error {
	if r.right {
		return keepsGroup{}.Reduce(t, key, right, out)
	}
	return keepsGroup{}.Reduce(t, key, left, out)
}

// keepsKey is a reducer that emits the key of the group before the current one.
type keepsKey struct{ key []byte }

func (r *keepsKey) Reduce(_ *mr.Task, key []byte, _ iter.Seq[[]byte], out bytesEmitter) error {
	out.Emit(r.key, nil)
	r.key = key
	return nil
}

// keepsSide is a mapper that keeps views of a side.
type keepsSide struct{ side *mr.Side[[]byte, []byte] }

func (m keepsSide) Map(t *mr.Task, _, _ []byte, out bytesEmitter) error {
	var kept [][]byte
	for k := range m.side.All(t) {
		kept = append(kept, k)
	}
	for _, k := range kept {
		out.Emit(k, nil)
	}
	return nil
}

// keepsWritten returns an output that keeps views of what it writes.
func keepsWritten(to *strings.Builder) mr.Output[[]byte, []byte] {
	var last []byte
	return mr.FuncOutput(func(_ *mr.Task, _, value []byte) error {
		to.Write(last)
		last = value
		return nil
	})
}

// keepsViews returns programs that keep a view of each kind of memory that they are lent.
func keepsViews(written *strings.Builder) map[string]mr.Runnable {
	type channel = mr.Channel[[]byte, []byte]
	out := mr.TextOutput[[]byte, []byte]()
	same := mr.IdentityMapper[[]byte, []byte]()
	read := func(g *mr.Graph) *mr.Stage[[]byte, []byte] { return mr.Read(g, "map", mr.KeyValueText(), same) }
	graph := func(then func(g *mr.Graph, in *mr.Stage[[]byte, []byte]) *mr.Stage[[]byte, []byte]) mr.Runnable {
		return mr.Define("keeps", struct{}{}, func(g *mr.Graph, _ struct{}) { mr.Write(then(g, read(g)), out) })
	}
	each := func(via func(*mr.Stage[[]byte, []byte]) channel) mr.Runnable {
		return graph(func(g *mr.Graph, in *mr.Stage[[]byte, []byte]) *mr.Stage[[]byte, []byte] {
			return mr.Each(g, "each", mr.Mapper[[]byte, []byte, []byte, []byte](&keepsRecord{}), via(in))
		})
	}
	pair := func(r keepsPair) mr.Runnable {
		return graph(func(g *mr.Graph, in *mr.Stage[[]byte, []byte]) *mr.Stage[[]byte, []byte] {
			kept := mr.Group(g, "kept", mr.IdentityReducer[[]byte, []byte](), in.Shuffle())
			again := mr.Group(g, "again", mr.IdentityReducer[[]byte, []byte](), kept.Shuffle())
			return mr.CoGroup(g, "pair", mr.CoReducer[[]byte, []byte, []byte, []byte, []byte](r), kept.Keep(), again.Keep())
		})
	}
	reduce := func(r mr.Reducer[[]byte, []byte, []byte, []byte]) *mr.Job[[]byte, []byte, []byte, []byte] {
		return mr.New("keeps", mr.KeyValueText(), same, r, out)
	}
	var split []byte
	partition := func(key []byte, n int) int {
		written.Write(split)
		split = key
		return int(key[0]) % n
	}
	return map[string]mr.Runnable{
		"record of a file":    mr.MapOnly("keeps", mr.KeyValueText(), mr.Mapper[[]byte, []byte, []byte, []byte](&keepsRecord{}), out),
		"value of a reduce":   reduce(keepsGroup{}),
		"key of a reduce":     reduce(&keepsKey{}),
		"value of a combiner": reduce(mr.IdentityReducer[[]byte, []byte]()).Combine(keepsGroup{}),
		"key of a partition":  reduce(mr.IdentityReducer[[]byte, []byte]()).Partition(partition),
		"written record":      reduce(mr.IdentityReducer[[]byte, []byte]()).WithOutput(keepsWritten(written)),
		"left of two":         pair(keepsPair{}),
		"right of two":        pair(keepsPair{right: true}),
		"record of files":     each(func(s *mr.Stage[[]byte, []byte]) channel { return s.Shuffle() }),
		"record of a pipe":    each(func(s *mr.Stage[[]byte, []byte]) channel { return s.Pipe() }),
		"record of a stream":  each(func(s *mr.Stage[[]byte, []byte]) channel { return s.Stream(mr.OneToOne) }),
		"group of a pipe": graph(func(g *mr.Graph, in *mr.Stage[[]byte, []byte]) *mr.Stage[[]byte, []byte] {
			return mr.Group(g, "group", mr.Reducer[[]byte, []byte, []byte, []byte](keepsGroup{}), in.Pipe())
		}),
		"side": graph(func(g *mr.Graph, in *mr.Stage[[]byte, []byte]) *mr.Stage[[]byte, []byte] {
			kept := mr.Group(g, "kept", mr.IdentityReducer[[]byte, []byte](), in.Shuffle())
			side := kept.Broadcast()
			other := mr.Group(g, "other", mr.IdentityReducer[[]byte, []byte](), in.Shuffle())
			return mr.With(mr.Each(g, "each", mr.Mapper[[]byte, []byte, []byte, []byte](keepsSide{side}), other.Pipe()), side)
		}),
	}
}

// TestPoisonFindsKeptViews runs programs that keep views of what they are lent. With poison, each
// writes bytes that no record has.
func TestPoisonFindsKeptViews(t *testing.T) {
	for name := range keepsViews(nil) {
		t.Run(name, func(t *testing.T) {
			reduces := "2"
			if name == "written record" {
				reduces = "1" // two would share the view
			}
			for _, on := range []bool{false, true} {
				var written strings.Builder
				in := inputDir(t, "aaaa\tone\naaaa\ttwo\nbbbb\tthree\ncccc\tfour\ndddd\tfive\n")
				got := mrtest.Command(t, keepsViews(&written)[name], "-Dhammr.debug.poison="+strconv.FormatBool(on), "-Dmapreduce.job.reduces="+reduces, in, outputDir(t)) + written.String()
				if found := strings.Contains(got, "\xDB\xDB\xDB"); found != poison.On(on) {
					t.Errorf("poison %t: output %q", on, got)
				}
			}
		})
	}
}

// appending is a mapper, a combiner and a partition function that append to the bytes that they
// get.
type appending struct{}

func (appending) Map(_ *mr.Task, key, value []byte, out bytesEmitter) error {
	out.Emit(append(key, '!'), append(value, '?'))
	return nil
}

func (appending) Reduce(_ *mr.Task, key []byte, values iter.Seq[[]byte], out bytesEmitter) error {
	_ = append(key, "XXXXXXXX"...)
	for v := range values {
		out.Emit(key, v)
		_ = append(v, "XXXXXXXX"...)
	}
	return nil
}

// TestAppendingChangesNoOtherRecord appends to what it is lent. The bytes behind it belong to other
// records.
func TestAppendingChangesNoOtherRecord(t *testing.T) {
	partition := func(key []byte, _ int) int {
		_ = append(key, "XXXXXXXX"...)
		return 0
	}
	job := mr.New("append", mr.KeyValueText(), mr.Mapper[[]byte, []byte, []byte, []byte](appending{}), mr.Reducer[[]byte, []byte, []byte, []byte](appending{}), mr.TextOutput[[]byte, []byte]()).
		Combine(appending{}).Partition(partition)
	got := mrtest.Command(t, job, "-Dmapreduce.job.reduces=2", inputDir(t, "a\tone\nb\ttwo\nb\tthree\nc\tfour\n"), outputDir(t))
	if want := "a!\tone?\nb!\ttwo?\nb!\tthree?\nc!\tfour?\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}
