package mr_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// numbered returns a job over the numbers below test.n. It emits one record for each number,
// with the key that key returns, and writes no output.
func numbered[K any](key func(n int64) K, reducer mr.Reducer[K, int64, K, int64]) *mr.Job[K, int64, K, int64] {
	return mr.New("numbered", mr.Numbers("test.n"), mr.MapFunc(func(_ *mr.Task, n int64, _ struct{}, out mr.Emitter[K, int64]) error {
		out.Emit(key(n), n)
		return nil
	}), reducer, mr.NullOutput[K, int64]())
}

func someBytes() func(n int64) []byte {
	var b [8]byte
	return func(n int64) []byte {
		binary.BigEndian.PutUint64(b[:], uint64(n))
		return b[:]
	}
}

// mallocsOf returns the number of allocations in a run of job over n numbers.
func mallocsOf(t testing.TB, job mr.Runnable, n int) int64 {
	t.Helper()
	program := &mr.Program{Name: "numbered", Jobs: []mr.Runnable{job}, Run: func(ctx context.Context, d *mr.Driver) error {
		return d.Run(ctx, job, mr.JobRun{})
	}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got := mrtest.Exec(t, program, "--quiet", "--workers=1", "-D", "mapreduce.job.maps=1", "-D", fmt.Sprintf("test.n=%d", n)); got.Code != mr.ExitDone {
		t.Fatal(got.Stderr)
	}
	runtime.ReadMemStats(&after)
	return int64(after.Mallocs - before.Mallocs)
}

// TestRecordsAndGroupsMakeNoGarbage compares the allocations of a small and a large run.
// Neither an emitted record nor a group in a bundled reducer may allocate. A string key
// needs one allocation for each group, because the reducer may keep it. The jobs therefore
// have few string keys.
func TestRecordsAndGroupsMakeNoGarbage(t *testing.T) {
	if poison.Always {
		t.Skip("with poison each record that is lent is a copy")
	}
	const small, large = 10_000, 110_000
	word := []string{"some", "words", "that are there already"}
	few := func(n int64) string { return word[n%3] }
	same := func(n int64) int64 { return n }
	for name, job := range map[string]mr.Runnable{
		"bytes, identity":      numbered(someBytes(), mr.IdentityReducer[[]byte, int64]()),
		"bytes, sum":           numbered(someBytes(), mr.Sum[[]byte, int64]()),
		"numbers, identity":    numbered(same, mr.IdentityReducer[int64, int64]()),
		"numbers, sum":         numbered(same, mr.Sum[int64, int64]()),
		"strings, max":         numbered(few, mr.Max[string, int64]()),
		"bytes, sum, folded":   numbered(someBytes(), mr.Sum[[]byte, int64]()).Combine(mr.Sum[[]byte, int64]()),
		"numbers, sum, folded": numbered(same, mr.Sum[int64, int64]()).Combine(mr.Sum[int64, int64]()),
		"strings, max, folded": numbered(few, mr.Max[string, int64]()).Combine(mr.Max[string, int64]()),
	} {
		extra := mallocsOf(t, job, large) - mallocsOf(t, job, small)
		if perRecord := float64(extra) / (large - small); perRecord > 0.02 {
			t.Errorf("%s: %.3f allocations a record", name, perRecord)
		}
	}
}
