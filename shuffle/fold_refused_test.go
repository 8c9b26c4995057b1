package shuffle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/testlevel"
)

// byteFold adds numbers of one byte, and refuses a sum that does not fit.
var byteFold = Fold[int8]{
	Fold: func(acc, v int8) (int8, bool) {
		sum := int(acc) + int(v)
		return int8(sum), sum == int(int8(sum))
	},
	Append: func(dst []byte, v int8) []byte { return append(dst, byte(v)) },
	Decode: func(src []byte) (int8, error) {
		if len(src) != 1 {
			return 0, fmt.Errorf("not a byte: %x", src)
		}
		return int8(src[0]), nil
	},
}

// TestFoldTablePassesOnWhatCannotBeFolded adds numbers that often exceed a byte. The exact sum
// of what is written is that of what was added, for each key, and no record is lost from the
// counters.
func TestFoldTablePassesOnWhatCannotBeFolded(t *testing.T) {
	for seed := range testlevel.Seeds(15, 2000) {
		checkRefused(t, seed)
	}
}

func checkRefused(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	o := testOptions(t, 1+r.IntN(3))
	o.Memory, o.MaxRuns = minMemory+r.Int64N(256<<10), 1+r.IntN(6)
	padding := strings.Repeat("p", r.IntN(40))
	domain, limit := []int{1, 5, 3000, 1 << 30}[r.IntN(4)], 1+r.IntN(127)
	records, want := make([]pair, r.IntN(20_000)), make(map[string]int)
	values := make(map[string]int8)
	for i := range records {
		n := int8(r.IntN(2*limit+1) - limit)
		records[i] = pair{padding + fmt.Sprint(r.IntN(domain)), fmt.Sprint(n)}
		values[records[i].value] = n
		want[records[i].key] += int(n)
	}
	x, stats := collectFolded(t, o, byteFold, records, func(s string) int8 { return values[s] })
	got := make(map[string]int)
	for _, part := range readIndexed(t, o.FS, x) {
		for _, p := range part {
			got[p.key] += int(int8(p.value[0]))
		}
	}
	for key, sum := range want {
		if got[key] != sum {
			t.Fatalf("seed %d: key %q: %d, want %d", seed, key, got[key], sum)
		}
	}
	if len(got) != len(want) || stats.Records != int64(len(records)) {
		t.Fatalf("seed %d: %d keys of %d, %d records counted of %d", seed, len(got), len(want), stats.Records, len(records))
	}
	if left := stats.Records - (stats.CombineIn - stats.CombineOut); left != recordsOf(x) {
		t.Fatalf("seed %d: counters of the combiner leave %d records; %d are written", seed, left, recordsOf(x))
	}
}
