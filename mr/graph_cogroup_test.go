package mr_test

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// upsideDown is a codec of keys that no other channel has.
type upsideDown struct{ mr.Codec[string] }

// bothSums emits the sum of all values of a key.
var bothSums = mr.CoReduceFunc(func(_ *mr.Task, key string, left, right iter.Seq[int64], out countEmitter) error {
	var sum int64
	for _, values := range []iter.Seq[int64]{left, right} {
		for v := range values {
			sum += v
		}
	}
	out.Emit(key, sum)
	return nil
})

// TestFilesAreWrittenOnce checks that stages which read one channel, or one side, read the same
// files, and that a channel which was changed has its own.
func TestFilesAreWrittenOnce(t *testing.T) {
	d := mr.Define("once", none{}, func(g *mr.Graph, _ none) {
		read := mr.Read(g, "read", lineFile, tokens)
		kept := read.Keep()
		one := mr.With(mr.Each(g, "one", same, kept), mr.Group(g, "total", sums, read.Via(dag.ChannelFile, mr.Gather)).Broadcast())
		two := mr.Each(g, "two", same, kept)
		three := mr.Each(g, "three", same, kept.Combine(sums))
		side := mr.Group(g, "four", sums, one.Shuffle(), two.Shuffle(), three.Shuffle()).Broadcast()
		shuffled := read.Shuffle()
		five := mr.With(mr.Group(g, "five", sums, shuffled), side)
		mr.Write(five, textual)
		mr.WriteAs(mr.With(mr.Group(g, "six", sums, shuffled), side), "six", textual)
	})
	var got []string
	for _, e := range graphOf(t, d).Edges {
		if e.FilesOf != "" {
			got = append(got, fmt.Sprintf("%v of %s", e, e.FilesOf))
		}
	}
	want := []string{`"read" -> "two" of one`, `"read" -> "six" of five`, `"four" -> "six" of five`}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("edges that read the files of others: %q, want %q", got, want)
	}
}

// describe lists the values of a key in both channels, in order.
var describe = mr.CoReduceFunc(func(_ *mr.Task, key string, left iter.Seq[int64], right iter.Seq[string], out textEmitter) error {
	var values []string
	for v := range left {
		values = append(values, fmt.Sprint(v))
	}
	for v := range right {
		values = append(values, v)
	}
	out.Emit(key, strings.Join(values, " "))
	return nil
})

// coGrouped describes the words of the input with their offsets, and the rows of a table.
func coGrouped() *mr.Definition {
	return mr.Define("cogroup", none{}, func(g *mr.Graph, _ none) {
		places := mr.MapFunc(func(_ *mr.Task, offset int64, line []byte, out countEmitter) error {
			for w := range mr.Words(line) {
				out.Emit(string(w), offset)
			}
			return nil
		})
		table := mr.Read(g, "table", mr.KeyValueText(), textPairs())
		words := mr.Group(g, "words", mr.IdentityReducer[string, int64](), mr.Read(g, "places", lineFile, places).Shuffle()).Keep()
		last := mr.CoGroup(g, "round-1", describe, words, table.Shuffle())
		last = mr.CoGroup(g, "round-2", describe, words, last.Shuffle()) // the words are read again
		mr.Write(last, mr.TextOutput[string, string]())
	})
}

// TestCoGroupLikeTwin compares a graph that reads kept records twice with its twin in memory,
// however the work is divided.
func TestCoGroupLikeTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	text, rows := longText(rng, 4000), ""
	for i := range 3000 {
		rows += fmt.Sprintf("w%d\trow %d\n", rng.IntN(6000), i)
	}
	want := coGroupTwin(text, rows)
	for range 5 {
		dir, way := outputDir(t), someCutting(rng)
		mrtest.Command(t, coGrouped(), append(slices.Clone(way), "-Dmapreduce.job.reduces=3", mrtest.File(t, "rows", rows), mrtest.File(t, "text", text), dir)...)
		got := slices.Sorted(strings.Lines(strings.Join(slices.Collect(maps.Values(filesIn(t, dir))), "")))
		if !slices.Equal(got, want) {
			t.Fatalf("%v: %d lines differ from the %d of the twin", way, len(got), len(want))
		}
	}
}

// coGroupTwin returns the lines that coGrouped writes, sorted.
func coGroupTwin(text, rows string) (lines []string) {
	words, table, offset := make(map[string][]string), make(map[string][]string), 0
	for line := range strings.Lines(text) {
		for _, w := range strings.Fields(line) {
			words[w] = append(words[w], fmt.Sprint(offset))
		}
		offset += len(line)
	}
	for row := range strings.Lines(rows) {
		key, value, _ := strings.Cut(strings.TrimSpace(row), "\t")
		table[key] = append(table[key], value)
	}
	keys := make(map[string]bool)
	for _, m := range []map[string][]string{words, table} {
		for key := range m {
			keys[key] = true
		}
	}
	for key := range keys {
		once := strings.Join(slices.Concat(words[key], table[key]), " ")
		lines = append(lines, key+"\t"+strings.Join(append(slices.Clone(words[key]), once), " ")+"\n")
	}
	slices.Sort(lines)
	return lines
}
