package benchmarks

import (
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/examples/benchmarks/randomwriter"
	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// read is a job that reads the output of randomwriter.
var read = mr.MapOnly("read",
	mr.SequenceFile(mr.BytesWritable, mr.BytesWritable),
	mr.IdentityMapper[[]byte, []byte](),
	mr.TextOutput[[]byte, []byte]())

// records runs randomwriter and returns the records of its output.
func records(t *testing.T, properties ...string) (lines string, files int) {
	t.Helper()
	var args []string
	for _, p := range properties {
		args = append(args, "-D", "mapreduce."+p)
	}
	dir := t.TempDir()
	written := filepath.Join(dir, "written")
	mrtest.Command(t, randomwriter.Program(), append(args, written)...)
	text := mrtest.Command(t, read, written, filepath.Join(dir, "text"))
	return text, len(mrtest.Parts(t, written))
}

func TestRandomwriter(t *testing.T) {
	sizes := []string{
		"randomwriter.totalbytes=30000", "randomwriter.bytespermap=10000", "randomwriter.minkey=4",
		"randomwriter.maxkey=4", "randomwriter.minvalue=100", "randomwriter.maxvalue=200",
	}
	first, files := records(t, sizes...)
	if files != 3 {
		t.Errorf("%d files, want 3", files)
	}
	if len(first) < 30_000 || len(first) > 32_000 {
		t.Errorf("%d bytes, want 30,000 and a little more", len(first))
	}
	again, files := records(t, append(sizes, "job.maps=1")...)
	if again != first || files != 1 {
		t.Errorf("%d maps make other records than 3", files)
	}
	other, _ := records(t, append(sizes, "randomwriter.seed=1")...)
	if other == first {
		t.Error("another seed makes the same records")
	}
}

// TestSizes checks that the sizes of records lie within their bounds, and that each size
// occurs.
func TestSizes(t *testing.T) {
	a := randomwriter.Amount{TotalBytes: 100_000, BlockBytes: 100_000, MinKey: 2, MaxKey: 5, MinValue: 7, MaxValue: 7}
	got := mrtest.RunCase(t, randomwriter.Job, mrtest.Case{Config: a, Set: map[string]string{randomwriter.Blocks("randomwriter"): "1"}})
	keys, bytes := make(map[int]int), 0
	for _, r := range got.Records() {
		keys[len(r.Key)]++
		bytes += len(r.Key) + len(r.Value)
		if len(r.Value) != 7 {
			t.Fatalf("a value of %d bytes, want 7", len(r.Value))
		}
	}
	if len(keys) != 3 || keys[2] == 0 || keys[3] == 0 || keys[4] == 0 {
		t.Errorf("keys by size: %v, want 2, 3 and 4", keys)
	}
	counted := got.Counters["org.apache.hadoop.examples.RandomWriter$Counters"]
	if counted["BYTES_WRITTEN"] != int64(bytes) || counted["RECORDS_WRITTEN"] != int64(len(got.Records())) {
		t.Errorf("counters %v, want %d bytes in %d records", counted, bytes, len(got.Records()))
	}
}

func TestRandomwriterRefuses(t *testing.T) {
	extest.Refused(t, randomwriter.Program(), "")
	extest.Refused(t, randomwriter.Program(), "", "out", "more")
	for _, p := range []string{"totalbytes=-1", "totalbytes=much", "minkey=2000"} {
		p = "mapreduce.randomwriter." + p
		extest.Refused(t, randomwriter.Program(), p+": ", "-D", p, "out")
	}
}
