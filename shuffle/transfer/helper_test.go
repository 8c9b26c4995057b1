package transfer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage/local"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testJob = "job_1_0001"
	testKey = "secret"
)

var testToken = JobToken(testKey, testJob)

// testMachine is a machine with local directories that contain map outputs.
type testMachine struct {
	dirs   []string
	server *Server
}

func newTestMachine(t testing.TB, cfg ServerConfig) *testMachine {
	t.Helper()
	n := &testMachine{dirs: []string{t.TempDir(), t.TempDir()}}
	cfg.Dirs, cfg.Key = n.dirs, testKey
	s, err := NewServer(cfg)
	must.Do(t, err)
	t.Cleanup(func() {
		if open := s.Counts().Open; open != 0 {
			t.Errorf("%d requests are open still", open)
		}
	})
	n.server = s
	return n
}

// listen starts a server for handler and returns its address.
func listen(t testing.TB, handler http.Handler) (address string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// mapOutput is the output of one map, with the sources to read it locally.
type mapOutput struct {
	segment Segment
	index   *shuffle.Index
	sources func(partition int) []shuffle.Source
}

func (m *mapOutput) path() string { return m.index.Path }

// write writes the output of a map, with several runs in each partition.
func (n *testMachine) write(t testing.TB, r *rand.Rand, task int32, records, partitions int) *mapOutput {
	t.Helper()
	attempt := fmt.Sprintf("attempt_1_0001_m_%06d_0", task)
	fsys := local.New(local.Options{})
	o := shuffle.Options{
		FS: fsys, Path: filepath.Join(n.dirs[int(task)%len(n.dirs)], testJob, taskdir.InJob(attempt), "map.out"),
		Partitions: partitions, Memory: 64 << 10, MaxRuns: 1000,
	}
	b, err := shuffle.NewSortBuffer(context.Background(), o)
	must.Do(t, err)
	for i := range records {
		b.Emit(fmt.Appendf(nil, "key %d", r.IntN(200)), fmt.Appendf(nil, "record %d of map %d", i, task))
	}
	x, err := b.Finish(context.Background())
	must.Do(t, err)
	ordinal := shuffle.Ordinal{Input: task % 3, Start: dag.Position{Offset: int64(task)}}
	return &mapOutput{
		index:   x,
		sources: func(p int) []shuffle.Source { return x.Sources(fsys, p, ordinal) },
		segment: Segment{Task: task, Ordinal: ordinal, Output: Output{
			Job: testJob, Attempt: attempt, File: "map.out", IndexChecksum: x.Checksum,
		}},
	}
}

// at returns the output's segment as served from an address.
func (m *mapOutput) at(address string) Segment {
	s := m.segment
	s.Output.Address = address
	return s
}

// partOf returns the segment for another partition.
func partOf(s Segment, partition int) Segment {
	s.Partition = partition
	return s
}

func newIntake(t testing.TB, memory int64) *shuffle.Intake {
	t.Helper()
	in, err := shuffle.NewIntake(shuffle.IntakeOptions{
		FS: local.New(local.Options{}), Dir: filepath.Join(t.TempDir(), "intake"), Memory: memory,
	})
	must.Do(t, err)
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	return in
}

// merged returns all records of a merge as text.
func merged(t testing.TB, m *shuffle.Merge, err error) string {
	t.Helper()
	must.Do(t, err)
	var b strings.Builder
	for m.Next() {
		fmt.Fprintf(&b, "%s=%s\n", m.Key(), m.Value())
	}
	must.Do(t, errors.Join(m.Err(), m.Close()))
	return b.String()
}

// readHere returns the records of a merge of the local files.
func readHere(t testing.TB, partition int, outputs ...*mapOutput) string {
	t.Helper()
	var sources []shuffle.Source
	for _, o := range outputs {
		sources = append(sources, o.sources(partition)...)
	}
	m, err := shuffle.NewMerge(context.Background(), sources, shuffle.MergeOptions{})
	return merged(t, m, err)
}

func readIntake(t testing.TB, in *shuffle.Intake) string {
	t.Helper()
	m, err := in.Merge(context.Background())
	return merged(t, m, err)
}

func newFetcher(t testing.TB, cfg FetcherConfig) *Fetcher {
	t.Helper()
	cfg.Token = testToken
	f := NewFetcher(cfg)
	t.Cleanup(f.Close)
	return f
}

// flip flips one bit of a file.
func flip(t testing.TB, path string, at int64) {
	t.Helper()
	b, err := os.ReadFile(path)
	must.Do(t, err)
	b[at] ^= 1
	must.Do(t, os.WriteFile(path, b, 0o644))
}

// unresponsiveAddress returns an address that accepts connections but never answers.
func unresponsiveAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}
