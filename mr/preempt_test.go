package mr

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsnet/compress/bzip2"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// someText returns lines of words. Some words are frequent.
func someText(rng *rand.Rand, lines int) string {
	var b strings.Builder
	for range lines {
		for range rng.IntN(6) {
			fmt.Fprintf(&b, "w%d ", rng.IntN(1+rng.IntN(60)))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// disturbedJobs returns the jobs under test. Their user code calls touch.
func disturbedJobs(touch func(*Task)) map[string]anyJob {
	words := MapFunc(func(t *Task, _ int64, line []byte, out Emitter[[]byte, int64]) error {
		touch(t)
		for w := range Words(line) {
			out.Emit(w, 1)
		}
		return nil
	})
	sum := ReduceFunc(func(t *Task, key []byte, values iter.Seq[int64], out Emitter[[]byte, int64]) error {
		touch(t)
		return Sum[[]byte, int64]().Reduce(t, key, values, out)
	})
	places := MapFunc(func(t *Task, offset int64, line []byte, out Emitter[string, int64]) error {
		touch(t)
		for w := range Words(line) {
			out.Emit(string(w), offset)
		}
		return nil
	})
	list := ReduceFunc(func(t *Task, key string, values iter.Seq[int64], out Emitter[string, string]) error {
		touch(t)
		var all []string
		for v := range values {
			all = append(all, fmt.Sprint(v))
		}
		out.Emit(key, strings.Join(all, ","))
		return nil
	})
	upper := MapFunc(func(t *Task, _ int64, line []byte, out Emitter[struct{}, []byte]) error {
		touch(t)
		out.Emit(struct{}{}, bytes.ToUpper(line))
		return nil
	})
	var extra *NamedOutput[string, int64] // an output that gets only the first keys
	some := ReduceFunc(func(t *Task, key string, values iter.Seq[int64], out Emitter[string, string]) error {
		if key < "w2" {
			if err := extra.Emit(t, key, int64(len(key))); err != nil {
				return err
			}
		}
		return list.Reduce(t, key, values, out)
	})
	named := New("named", TextLines(), places, some, TextOutput[string, string]())
	extra = AddOutput(named, "extra", TextOutput[string, int64]())
	return map[string]anyJob{
		"named":    named,
		"fold":     New("fold", TextLines(), words, sum, TextOutput[[]byte, int64]()).Combine(Sum[[]byte, int64]()),
		"sort":     New("sort", TextLines(), places, list, TextOutput[string, string]()),
		"combine":  New("combine", TextLines(), words, sum, TextOutput[[]byte, int64]()).Combine(sum),
		"stateful": New("stateful", TextLines(), places, Reducer[string, int64, string, int64](&running{touch: touch}), TextOutput[string, int64]()),
		"map-only": MapOnly("map-only", TextLines(), upper, TextOutput[struct{}, []byte]()),
		"seqfile":  New("seqfile", TextLines(), words, sum, SequenceOutput(Text, LongWritable)).Combine(Sum[[]byte, int64]()),
		"seq-map":  MapOnly("seq-map", TextLines(), upper, SequenceOutput(NullWritable, Text)),
		"graph": mapAndReduce("graph", places, func(g *Graph, in *Stage[string, int64]) {
			Write(Group(g, "reduce", list, in.Shuffle()), TextOutput[string, string]())
		}),
		"graph-stateful": mapAndReduce("graph-stateful", places, func(g *Graph, in *Stage[string, int64]) {
			Write(Group(g, "reduce", Reducer[string, int64, string, int64](&running{touch: touch}), in.Shuffle()), TextOutput[string, int64]())
		}),
		"graph-each": mapAndReduce("graph-each", places, func(g *Graph, in *Stage[string, int64]) {
			pass := MapFunc(func(t *Task, key string, value int64, out Emitter[string, int64]) error {
				touch(t)
				out.Emit(key, value)
				return nil
			})
			Write(Each(g, "reduce", pass, in.Shuffle()), TextOutput[string, int64]())
		}),
		"graph-piped": mapAndReduce("graph-piped", places, func(g *Graph, in *Stage[string, int64]) {
			numbered := Each(g, "number", Mapper[string, int64, string, int64](&numbering{touch: touch}), in.Pipe())
			Write(numbered, TextOutput[string, int64]())
			WriteAs(Group(g, "list", list, numbered.Pipe()), "lists", TextOutput[string, string]())
		}),
	}
}

// numbering is a mapper with state: it numbers the records of its Node.
type numbering struct {
	touch func(*Task)
	n     int64
}

func (m *numbering) Map(t *Task, key string, value int64, out Emitter[string, int64]) error {
	m.touch(t)
	m.n++
	out.Emit(key, m.n<<20+value)
	return nil
}

func (m *numbering) Save() ([]byte, error) { return fmt.Append(nil, m.n), nil }

func (m *numbering) Load(state []byte) error {
	_, err := fmt.Sscan(string(state), &m.n)
	return err
}

// mapAndReduce defines a graph whose source is called map, and calls then to add the other
// stages.
func mapAndReduce(name string, m Mapper[int64, []byte, string, int64], then func(*Graph, *Stage[string, int64])) *Definition {
	return Define(name, struct{}{}, func(g *Graph, _ struct{}) { then(g, Read(g, "map", TextLines(), m)) })
}

// running is a reducer with state: it counts the values of its partition.
type running struct {
	touch func(*Task)
	n     int64
}

func (r *running) Reduce(t *Task, key string, values iter.Seq[int64], out Emitter[string, int64]) error {
	r.touch(t)
	for range values {
		r.n++
	}
	out.Emit(key, r.n)
	return nil
}

func (r *running) Save() ([]byte, error) { return fmt.Append(nil, r.n), nil }
func (r *running) Load(state []byte) error {
	_, err := fmt.Sscan(string(state), &r.n)
	return err
}

// variant is a set of properties and input files for a disturbed job.
type variant struct {
	properties map[string]string
	encode     func(text string) []byte // encodes input files; nil for plain text
	suffix     string                   // suffix of the file names
	small      bool                     // use many small files, several to a split
}

var variants = map[string]variant{
	"plain":    {},
	"gzip":     {properties: map[string]string{conf.OutputCompress: "true", conf.OutputCompressCodec: "gzip"}},
	"blocks":   {properties: map[string]string{conf.OutputCompress: "true", conf.OutputCompressType: "BLOCK"}},
	"spills":   {properties: map[string]string{conf.SortMB: "1", conf.SortFactor: "2"}},
	"shuffled": {properties: map[string]string{conf.MapOutputCompress: "true", conf.MapOutputCompressCodec: "zstd"}},
	"stored":   {properties: map[string]string{conf.ChannelsStored: "true"}},
	"from-gz":  {encode: gzipped, suffix: ".gz"},
	"from-bz2": {encode: bzipped, suffix: ".bz2"},
	"small":    {small: true},
	"poison":   {properties: map[string]string{conf.Poison: "true", conf.SortMB: "1"}},
}

func gzipped(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

// bzipped writes a bzip2 stream for every seven lines, so that even a small file can be
// split.
func bzipped(text string) []byte {
	var b bytes.Buffer
	for lines := range slices.Chunk(strings.SplitAfter(text, "\n"), 7) {
		w, err := bzip2.NewWriter(&b, nil)
		if err != nil {
			panic(err)
		}
		_, _ = w.Write([]byte(strings.Join(lines, "")))
		_ = w.Close()
	}
	return b.Bytes()
}

// inputs returns the contents of the input files.
func (v variant) inputs(rng *rand.Rand) []string {
	if !v.small {
		return []string{someText(rng, 150), someText(rng, 60), ""}
	}
	var all []string
	for i := range 14 {
		all = append(all, someText(rng, i))
	}
	return all
}

// TestSameBytesWhateverHappens splits, checkpoints and kills attempts at random points, any
// number of times. The output equals the output of an undisturbed run.
func TestSameBytesWhateverHappens(t *testing.T) {
	var all tally
	for name := range disturbedJobs(nil) {
		for label, v := range variants {
			t.Run(name+"/"+label, func(t *testing.T) {
				for seed := range testlevel.Seeds(1, 10) {
					_, tally := checkDisturbed(t, name, v, seed)
					all.add(tally)
				}
			})
		}
	}
	if all.splits == 0 || all.pauses == 0 || all.moves == 0 || all.kills == 0 {
		t.Errorf("too little has happened: %+v", all)
	}
}

// checkDisturbed compares an undisturbed run with a run that a seed disturbs: the output, and the
// sums over what the maps have emitted. It returns the number of bytes compared and the tally of
// the disturbed run.
func checkDisturbed(t *testing.T, name string, v variant, seed uint64) (size int, happened tally) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var files []inputFile
	for _, text := range v.inputs(rng) {
		content := []byte(text)
		if v.encode != nil {
			content = v.encode(text)
		}
		files = append(files, inputFile{v.suffix, content})
	}
	outcome := func(s *schedule) ([]string, uint64) {
		var n *node
		job := disturbedJobs(func(t *Task) { n.touch(t) })[name]
		reduces := 0
		if detailsOf(t, job).hasReduce {
			reduces = 2
		}
		properties := maps.Clone(v.properties)
		if s == nil {
			delete(properties, conf.Poison) // it changes no byte
		}
		n = newNode(t, job, reduces, properties)
		return n.run(cutInputs(t, job, 700, files...), s), n.emitted
	}
	want, emitted := outcome(nil)
	disturbed := &schedule{rng: rng}
	got, again := outcome(disturbed)
	if !slices.Equal(got, want) {
		t.Fatalf("seed %d: disturbed output differs:\n%q\nwant\n%q", seed, got, want)
	}
	if again != emitted {
		t.Fatalf("seed %d: the same records have the sums %x and %x: their readers would start over", seed, emitted, again)
	}
	if v.suffix == ".gz" && disturbed.splits > 0 {
		t.Errorf("seed %d: %d cuts through files that are read from their beginning", seed, disturbed.splits)
	}
	for _, part := range want {
		size += len(part)
	}
	return size, disturbed.tally
}
