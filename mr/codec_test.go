package mr_test

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrgob"
	"github.com/hammr/hammr/mr/mrtest"
)

// backwards is a user's codec that sorts strings by their letters in reverse order, the last
// letter first. It can be set to refuse "bad".
type backwards struct{ fault string }

func (c backwards) Append(dst []byte, v string) []byte {
	if c.fault == "encode" && v == "bad" {
		panic(errors.New("codec that cannot encode bad"))
	}
	for i := len(v) - 1; i >= 0; i-- {
		dst = append(dst, v[i])
	}
	return dst
}

func (c backwards) Decode(src []byte) (string, error) {
	v := string(backwards{}.Append(nil, string(src)))
	switch {
	case v != "bad":
	case c.fault == "decode":
		return "", errors.New("codec that cannot decode bad")
	case c.fault == "panic":
		panic("codec that panics")
	}
	return v, nil
}

func TestKeyCodecSetsTheOrder(t *testing.T) {
	for name, job := range map[string]*mr.Job[string, int64, string, int64]{
		"sorting": wordCount(), "folding": wordCount().Combine(mr.Sum[string, int64]()),
		"combining": wordCount().Combine(&prepared{}),
	} {
		got := mrtest.Run(t, job.KeyCodec(backwards{}), "az by ax by\n").Text()
		if want := "ax\t1\nby\t2\naz\t1\n"; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestCodecsThatFail uses codecs that fail. The error of a map names the record. The error
// of a reduce has no record to name.
func TestCodecsThatFail(t *testing.T) {
	const text = "fine first\nx bad\n"
	swapped := mr.MapFunc(func(_ *mr.Task, _ int64, line string, out textEmitter) error {
		f := strings.Fields(line)
		out.Emit(f[1], f[0])
		return nil
	})
	job := func(m mr.Mapper[int64, string, string, string]) *mr.Job[string, string, string, string] {
		return mr.New("codecs", mr.TextStrings(), m, lists, mr.TextOutput[string, string]())
	}
	for want, j := range map[string]*mr.Job[string, string, string, string]{
		"encode value": job(pairs).ValueCodec(backwards{"encode"}),
		"decode value": job(pairs).ValueCodec(backwards{"decode"}),
		"encode key":   job(swapped).KeyCodec(backwards{"encode"}),
		"decode key":   job(swapped).KeyCodec(backwards{"decode"}),
		"panic value":  job(pairs).ValueCodec(backwards{"panic"}),
	} {
		step, half, _ := strings.Cut(want, " ")
		cause := "cause:   panic: codec that cannot encode bad\n"
		switch step {
		case "panic":
			cause = "cause:   panic: codec that panics\n"
		case "decode":
			cause = fmt.Sprintf("cause:   decoding a %s: codec that cannot decode bad\n", half)
		}
		dir := outputDir(t)
		got := fails(t, j, mr.ExitFailed, []string{"-D", "mapreduce.map.maxattempts=1", "-D", "mapreduce.reduce.maxattempts=1", inputDir(t, text), dir}, cause)
		if named := strings.Contains(got.Stderr, "in-0 at byte 11\n"); named != (step == "encode") {
			t.Errorf("%s: record named: %v\n%s", want, named, got.Stderr)
		}
		gone(t, dir)
	}
}

func TestKeysWithoutCodec(t *testing.T) {
	type odd struct{ A, B int }
	job := keysOf(func(string) odd { return odd{} })
	fails(t, job, mr.ExitFailed, []string{inputDir(t, "a\n"), outputDir(t)},
		"job keys: stage \"map\": no ordered codec for keys of type mr_test.odd: use a string,", "or give a codec with KeyCodec\n")
	if got, want := mrtest.Run(t, job.KeyCodec(mr.JSON[odd]()), "a b\n").Text(), "{0 0}\t{}\n"; got != want {
		t.Errorf("with a codec: %q, want %q", got, want)
	}
}

// visit is a value type without a codec of its own.
type visit struct {
	Page  string
	Times []int
	At    map[string]float64 `json:",omitempty"`
}

// carried returns a job that sends a value of each word through a shuffle and writes its
// text.
func carried[V any](codec mr.Codec[V], value func(word string) V, text func(V) string) *mr.Job[string, V, string, string] {
	job := mr.New("carried", mr.TextStrings(), mr.MapFunc(func(_ *mr.Task, _ int64, line string, out mr.Emitter[string, V]) error {
		for _, w := range strings.Fields(line) {
			out.Emit(w[:1], value(w))
		}
		return nil
	}), mr.ReduceFunc(func(_ *mr.Task, key string, values iter.Seq[V], out textEmitter) error {
		var all []string
		for v := range values {
			all = append(all, text(v))
		}
		out.Emit(key, strings.Join(all, ","))
		return nil
	}), mr.TextOutput[string, string]())
	if codec != nil {
		job.ValueCodec(codec)
	}
	return job
}

func visitOf(word string) visit {
	return visit{word, []int{len(word), 1}, map[string]float64{word: float64(len(word)) / 4}}
}

func visitText(v visit) string { return fmt.Sprint(v.Page, v.Times, v.At) }

func TestValueCodecs(t *testing.T) {
	const visits = "a\ta1[2 1] map[a1:0.5],a22[3 1] map[a22:0.75]\nb\tb[1 1] map[b:0.25]\n"
	for name, codec := range map[string]mr.Codec[visit]{"default": nil, "JSON": mr.JSON[visit](), "gob": mrgob.Codec[visit]()} {
		if got := mrtest.Run(t, carried(codec, visitOf, visitText), "a1 b a22\n").Text(); got != visits {
			t.Errorf("%s: %q, want %q", name, got, visits)
		}
	}
	seconds := func(w string) *durationpb.Duration { return durationpb.New(time.Duration(len(w)) * time.Second) }
	for name, codec := range map[string]mr.Codec[*durationpb.Duration]{"default": nil, "protobuf": mr.Proto[*durationpb.Duration]()} {
		job := carried(codec, seconds, func(d *durationpb.Duration) string { return d.AsDuration().String() })
		if got, want := mrtest.Run(t, job, "a1 b a22\n").Text(), "a\t2s,3s\nb\t1s\n"; got != want {
			t.Errorf("messages, %s: %q, want %q", name, got, want)
		}
	}
}

func TestUnencodableValue(t *testing.T) {
	job := carried(nil, func(string) float64 { return 0 }, func(float64) string { return "" }).ValueCodec(mr.JSON[float64]())
	notANumber := carried(mr.JSON[float64](), func(string) float64 { return math.NaN() }, func(float64) string { return "" })
	if got, want := mrtest.Run(t, job, "a\n").Text(), "a\t\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	fails(t, notANumber, mr.ExitFailed, []string{"-D", "mapreduce.map.maxattempts=1", inputDir(t, "a\n"), outputDir(t)},
		"json: unsupported value: NaN", "in-0 at byte 0\n")
}
