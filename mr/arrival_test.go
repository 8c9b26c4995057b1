package mr_test

import (
	"fmt"
	"iter"
	"math/big"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrgob"
	"github.com/hammr/hammr/mr/mrtest"
)

// stat has fields that JSON and gob drop.
type stat struct{ sum, n int }

// noted would arrive by JSON with other content for some values.
type noted struct {
	Name  string
	Extra any
	seen  bool `json:"-"`
}

func statOf(w string) stat { return stat{len(w), 1} }

// TestTypesThatWouldChangeAreRefused builds jobs whose records or configurations would not
// arrive as they were emitted.
func TestTypesThatWouldChangeAreRefused(t *testing.T) {
	emit := mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[string, stat]) error {
		out.Emit(string(line), statOf(string(line)))
		return nil
	})
	statText := func(s stat) string { return fmt.Sprint(s.sum, s.n) }
	drop, dropBig := mr.NullOutput[string, stat](), mr.NullOutput[string, map[string]big.Int]()
	graph := func(build func(g *mr.Graph, s *mr.Stage[string, stat])) mr.Runnable {
		return mr.Define("stats", none{}, func(g *mr.Graph, _ none) { build(g, mr.Read(g, "read", lineFile, emit)) })
	}
	each := mr.IdentityMapper[string, stat]()
	const dropped = "field sum of mr_test.stat: not exported, so JSON drops it; export it, or leave it out with the tag json:\"-\"; or give a codec with ValueCodec"
	for name, c := range map[string]struct {
		job  mr.Runnable
		want string
	}{
		"job":            {carried(nil, statOf, statText), `job carried: stage "map": values of type mr_test.stat: ` + dropped},
		"gob":            {carried(mrgob.Codec[stat](), statOf, statText), `job carried: stage "map": values of type mr_test.stat: field sum of mr_test.stat: not exported, so gob drops it`},
		"keys":           {keysOf(statOf).KeyCodec(mr.JSON[stat]()), `job keys: stage "map": keys of type mr_test.stat: field sum`},
		"config":         {mr.WithConfig(wordCount(), stat{}), "job wordcount: configuration: field sum of mr_test.stat: not exported"},
		"graph's config": {mr.Define("configured", stat{}, func(*mr.Graph, stat) {}), "job configured: configuration: field sum of mr_test.stat: not exported"},
		"channel": {graph(func(g *mr.Graph, s *mr.Stage[string, stat]) { mr.Write(mr.Each(g, "last", each, s.Shuffle()), drop) }),
			`job stats: stage "last": channel of stage "read": values of type mr_test.stat: ` + dropped},
		"stream": {graph(func(g *mr.Graph, s *mr.Stage[string, stat]) {
			mr.Write(mr.Each(g, "last", each, s.Stream(mr.OneToOne)), drop)
		}),
			`stage "last": channel of stage "read": values of type mr_test.stat: ` + dropped},
		"sorted pipe": {graph(func(g *mr.Graph, s *mr.Stage[string, stat]) {
			mr.Write(mr.Group(g, "last", mr.IdentityReducer[string, stat](), s.Pipe()), drop)
		}), `stage "last": channel of stage "read": values of type mr_test.stat: ` + dropped},
		"side": {graph(func(g *mr.Graph, s *mr.Stage[string, stat]) {
			mr.Write(mr.With(mr.Each(g, "last", each, s.Pipe()), s.Broadcast()), drop)
		}), `stage "read": side: values of type mr_test.stat: ` + dropped},
		"pipe that encodes": {graph(func(g *mr.Graph, s *mr.Stage[string, stat]) {
			numbers := mr.Each(g, "numbers", mr.MapFunc(func(_ *mr.Task, k string, _ stat, out mr.Emitter[string, map[string]big.Int]) error {
				return nil
			}), s.Pipe())
			mr.Write(mr.Each(g, "last", mr.IdentityMapper[string, map[string]big.Int](), numbers.Pipe()), dropBig)
		}), `stage "last": channel of stage "numbers": values of type map[string]big.Int: JSON does not call MarshalJSON of *big.Int for the values of a map`},
	} {
		t.Run(name, func(t *testing.T) {
			got := fails(t, c.job, mr.ExitFailed, []string{inputDir(t, "a\n"), outputDir(t)}, c.want)
			if strings.Contains(got.Stderr, "Running job") {
				t.Error("a job ran")
			}
		})
	}
}

// TestPipesKeepAllFields passes a type that JSON would change through a pipe, which does not
// encode it.
func TestPipesKeepAllFields(t *testing.T) {
	d := mr.Define("piped", none{}, func(g *mr.Graph, _ none) {
		s := mr.Read(g, "read", mr.TextStrings(), mr.MapFunc(func(_ *mr.Task, _ int64, line string, out mr.Emitter[string, stat]) error {
			out.Emit(line, statOf(line))
			return nil
		}))
		mr.Write(mr.Each(g, "last", mr.MapFunc(func(_ *mr.Task, k string, v stat, out textEmitter) error {
			out.Emit(k, fmt.Sprint(v.sum, v.n))
			return nil
		}), s.Pipe()), mr.TextOutput[string, string]())
	})
	if got, want := mrtest.RunGraph(t, d, mrtest.Case{Inputs: []string{"abc\n"}}).Text(), "abc\t3 1\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestValuesThatWouldChangeAreRefused emits values that JSON would change, beside one that it
// keeps.
func TestValuesThatWouldChangeAreRefused(t *testing.T) {
	text := func(r noted) string { return fmt.Sprint(r.Name, r.Extra, r.seen) }
	job := func(r noted) *mr.Job[string, noted, string, string] {
		return carried(nil, func(string) noted { return r }, text)
	}
	if got, want := mrtest.Run(t, job(noted{"é", 1.5, true}), "a\n").Text(), "a\té1.5 false\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for want, r := range map[string]noted{
		`field Name of mr_test.noted: the string "\xff" is not UTF-8, which JSON would replace; use a []byte`: {Name: "\xff"},
		"field Extra of mr_test.noted: a int64 in an any, which JSON makes another type":                      {Extra: int64(1)},
	} {
		fails(t, job(r), mr.ExitFailed, []string{"-D", "mapreduce.map.maxattempts=1", inputDir(t, "a\n"), outputDir(t)}, want, "in-0 at byte 0")
	}
}

// merged is a configuration that decoding over the defaults would mix with them.
type merged struct {
	Map  map[string]int
	Text string `json:",omitempty"`
}

func TestConfigurationReplacesTheDefaults(t *testing.T) {
	job := mr.WithConfig(mr.New("merged", mr.TextStrings(), mr.MapFunc(func(t *mr.Task, _ int64, line string, out textEmitter) error {
		out.Emit(line, fmt.Sprint(*mr.ConfigOf[merged](t)))
		return nil
	}), mr.ReduceFunc(func(_ *mr.Task, k string, values iter.Seq[string], out textEmitter) error {
		for v := range values {
			out.Emit(k, v)
		}
		return nil
	}), mr.TextOutput[string, string]()), merged{map[string]int{"default": 1}, "default"})
	got := mrtest.RunCase(t, job, mrtest.Case{Inputs: []string{"a\n"}, Config: merged{Map: map[string]int{"own": 2}}})
	if want := "a\t{map[own:2] }\n"; got.Text() != want {
		t.Errorf("%q, want %q", got.Text(), want)
	}
}

// TestJSONLinesThatAreNotUTF8 reads a line whose string encoding/json would change.
func TestJSONLinesThatAreNotUTF8(t *testing.T) {
	job := mr.MapOnly("names", mr.JSONLines[noted](), mr.MapFunc(func(_ *mr.Task, _ int64, r noted, out textEmitter) error {
		out.Emit(r.Name, "")
		return nil
	}), mr.TextOutput[string, string]())
	fails(t, job, mr.ExitFailed, []string{"-D", "mapreduce.map.maxattempts=1", inputDir(t, "{\"Name\":\"\xff\"}\n"), outputDir(t)},
		"line that is not the JSON of a mr_test.noted: bytes that are not UTF-8", "in-0 at byte 0")
}

// TestJSONLinesWithHalfACharacter reads lines with escapes that encoding/json would change, and lines
// with escapes that it does not.
func TestJSONLinesWithHalfACharacter(t *testing.T) {
	job := mr.MapOnly("names", mr.JSONLines[noted](), mr.MapFunc(func(_ *mr.Task, _ int64, r noted, out textEmitter) error {
		out.Emit(r.Name, "")
		return nil
	}), mr.TextOutput[string, string]())
	const good = `{"Name":"\ud83d\ude00 \u00e9 \ufffd \\ud800"}` + "\n"
	if got, want := mrtest.Run(t, job, good).Text(), "\U0001F600 é \uFFFD \\ud800\t\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, line := range []string{`{"Name":"\ud800"}`, `{"Name":"a","Extra":["\ud800\ud800"]}`, `{"Name":"a","\ud800":1}`} {
		fails(t, job, mr.ExitFailed, []string{"-D", "mapreduce.map.maxattempts=1", inputDir(t, good+line+"\n"), outputDir(t)},
			`line that is not the JSON of a mr_test.noted: \ud800 is half of a character`, fmt.Sprintf("in-0 at byte %d", len(good)))
	}
}
