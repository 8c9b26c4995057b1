package shuffle

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// keepAll is a combiner that joins the values of a key with commas.
func keepAll(key []byte, values *Values, emit func(key, value []byte)) error {
	var joined []byte
	for values.Next() {
		if joined != nil {
			joined = append(joined, ',')
		}
		joined = append(joined, values.Value()...)
	}
	emit(key, joined)
	return nil
}

// summed collects records in one of three ways.
func summed(t testing.TB, kind string, o Options, records []pair) (*Index, Sums) {
	t.Helper()
	var stats Stats
	var x *Index
	switch kind {
	case "fold":
		x, stats = collectFolded(t, o, joinFold, records, func(s string) string { return s })
	case "combine":
		o.Combine = keepAll
		x, stats = collectSorted(t, o, records)
	default:
		x, stats = collectSorted(t, o, records)
	}
	return x, stats.Sums
}

// drawCuts returns options that determine where records are cut. Other options are equal.
func drawCuts(t testing.TB, rt *rapid.T) Options {
	o := testOptions(t, 3)
	o.Codec = Zstd
	o.Memory = rapid.Int64Range(minMemory, 160<<10).Draw(rt, "memory")
	o.SpillPercent = rapid.SampledFrom([]float64{0.5, 0.8, 1}).Draw(rt, "spill percent")
	o.Factor = rapid.IntRange(2, 5).Draw(rt, "factor")
	o.MaxRuns = rapid.IntRange(1, 6).Draw(rt, "max runs")
	if rapid.Bool().Draw(rt, "budget") {
		o.Budget = testBudget(rapid.Int64Range(0, 1<<18).Draw(rt, "bytes of the budget"))
	}
	return o
}

// TestSumsOfEqualRecordsAreEqual collects the same records twice, cut at random. The sums show no
// difference. A checkpoint between two of them changes nothing.
func TestSumsOfEqualRecordsAreEqual(t *testing.T) {
	alike := 0
	rapid.Check(t, func(rt *rapid.T) {
		kind, records := rapid.SampledFrom([]string{"sort", "combine", "fold"}).Draw(rt, "kind"), drawRecords(rt)
		x, first := summed(t, kind, drawCuts(t, rt), records)
		y, second := summed(t, kind, drawCuts(t, rt), records)
		if first.Emitted != second.Emitted || first.Emitted == 0 {
			rt.Fatalf("%s: %d records have the sums %x and %x", kind, len(records), first, second)
		}
		if first.Cuts == second.Cuts {
			if alike++; x.Checksum != y.Checksum {
				rt.Fatalf("%s: %d records, cut in the same way, are other bytes", kind, len(records))
			}
		}
		cut := rapid.IntRange(0, len(records)).Draw(rt, "checkpoint")
		_, before := summed(t, kind, drawCuts(t, rt), records[:cut])
		_, after := summed(t, kind, drawCuts(t, rt), records[cut:])
		if joined := before.Join(after); joined != (Sums{Emitted: first.Emitted}) {
			rt.Fatalf("%s: %d records, joined after %d, have the sums %x, want %x", kind, len(records), cut, joined, first.Emitted)
		}
	})
	if alike == 0 {
		t.Error("no records were cut alike")
	}
}

// TestSumsOfOtherRecordsDiffer changes one record. With the same options, the sums or the index
// differ; with a combiner, a changed key is seen with any options.
func TestSumsOfOtherRecordsDiffer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind, records := rapid.SampledFrom([]string{"sort", "combine", "fold"}).Draw(rt, "kind"), append(drawRecords(rt), pair{"k", "v"})
		changed, i := slices.Clone(records), rapid.IntRange(0, len(records)-1).Draw(rt, "record")
		changesKey := rapid.Bool().Draw(rt, "changes the key") && records[i].key != ""
		if changesKey {
			changed[i].key = flipped(changed[i].key)
		} else {
			changed[i].value = flipped(changed[i].value)
		}
		o := drawCuts(t, rt)
		other := o
		if changesKey && kind != "sort" {
			other = drawCuts(t, rt)
		}
		x, first := summed(t, kind, o, records)
		other.Path = testOptions(t, 3).Path
		y, second := summed(t, kind, other, changed)
		if first.Emitted == second.Emitted && (first.Cuts != second.Cuts || x.Checksum == y.Checksum) {
			rt.Fatalf("%s: record %d of %d is another one, and the sums are %x and %x", kind, i, len(records), first, second)
		}
	})
}

// drawRecords returns records that fill a small memory several times, or only a part of it.
func drawRecords(rt *rapid.T) []pair {
	kind := rapid.SampledFrom([]string{"random", "short", "prefix", "lengths", "zipf"}).Draw(rt, "kind")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
	return recordKinds[kind](r, rapid.IntRange(0, 2500).Draw(rt, "records"))
}

// flipped returns a text with another last byte.
func flipped(text string) string {
	return text[:len(text)-1] + string([]byte{text[len(text)-1] ^ 1})
}
