package growth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const results = `goos: linux
BenchmarkGrowth/policy=fifo/jobs=30-2	1	1000 ns/op	100 events/s	12.5 µs/event
BenchmarkGrowth/policy=fair/jobs=100-2	1	1000 ns/op	100 events/s	30 µs/event
BenchmarkGrowth/policy=fair/jobs=30-2	1	1000 ns/op	100 events/s	20 µs/event
BenchmarkGrowth/policy=fair/queue=10-2	1	1000 ns/op	100 events/s	2 µs/event
PASS
`

func TestResultsAreRead(t *testing.T) {
	all, err := read(strings.NewReader(results))
	if err != nil {
		t.Fatal(err)
	}
	if got := all["jobs"]["fair"]; len(got) != 2 || got[0].X != 100 || got[0].Y != 30 || all["queue"]["fair"][0].Y != 2 || len(all["jobs"]) != 2 {
		t.Errorf("got %+v", all)
	}
	dir := filepath.Join(t.TempDir(), "pictures")
	if err := Draw(strings.NewReader(results), dir); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != "growth.svg" {
		t.Errorf("files %v, %v", files, err)
	}
}

func TestOtherResults(t *testing.T) {
	for text, want := range map[string]string{
		"": "no results of BenchmarkGrowth",
		"BenchmarkGrowth/policy=fifo/jobs=many-2 1 1000 ns/op 12.5 µs/event\n": "expected Growth/policy=P/WHAT=N",
	} {
		if _, err := read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
