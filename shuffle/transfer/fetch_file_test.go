package transfer

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestOpenFetchesRangesOfFiles(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 3000, 2)
	data, err := os.ReadFile(m.path())
	must.Do(t, err)
	deep := filepath.Join(filepath.Dir(m.path()), "intake", "merge-1")
	must.Do(t, os.MkdirAll(filepath.Dir(deep), 0o700))
	must.Do(t, os.WriteFile(deep, data, 0o600))
	address := listen(t, n.server)
	f := newFetcher(t, FetcherConfig{Token: testToken})
	size := int64(len(data))
	for _, name := range []string{m.path(), deep} {
		file, err := FileOf(address, m.at(address).Output.Job, name)
		must.Do(t, err)
		for _, r := range [][3]int64{{0, -1, size}, {10, -1, size}, {0, 24, 24}, {100, 300, 400}, {size - 1, 1, size}, {7, 0, 7}} {
			in, err := f.Open(context.Background(), file, r[0], r[1])
			if err != nil {
				t.Fatalf("%v: %v", r, err)
			}
			got, err := io.ReadAll(in)
			if err != nil || !bytes.Equal(got, data[r[0]:r[2]]) {
				t.Errorf("%v of %s: %d bytes, %v", r, name, len(got), err)
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := f.Open(context.Background(), file, size-3, 9); err == nil {
			t.Error("a range that reaches beyond the file was answered")
		}
	}
}

// TestOpenFetchesEmptyFiles fetches an empty file, as a map without output writes it.
func TestOpenFetchesEmptyFiles(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 10, 1)
	empty := filepath.Join(filepath.Dir(m.path()), "empty")
	must.Do(t, os.WriteFile(empty, nil, 0o600))
	address := listen(t, n.server)
	file, err := FileOf(address, m.at(address).Output.Job, empty)
	must.Do(t, err)
	in, err := newFetcher(t, FetcherConfig{Token: testToken}).Open(context.Background(), file, 0, -1)
	must.Do(t, err)
	if got, err := io.ReadAll(in); err != nil || len(got) > 0 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
}

func TestFileOfStaysInTheJob(t *testing.T) {
	f, err := FileOf("h:1", "job_1_0001", "/data/job_1_0001/x/job_1_0001/attempt_1_0001_r_000000_0/intake0/merge-1")
	if want := (File{Address: "h:1", Job: "job_1_0001", Path: "attempt_1_0001_r_000000_0/intake0/merge-1"}); err != nil || f != want {
		t.Errorf("%+v, %v", f, err)
	}
	f, err = FileOf("h:1", "job_1_0001", "/data/job_1_0001/r_000000/attempt_1_0001_r_000000_0/intake0/merge-1")
	if want := (File{Address: "h:1", Job: "job_1_0001", Path: "attempt_1_0001_r_000000_0/intake0/merge-1"}); err != nil || f != want {
		t.Errorf("%+v, %v", f, err)
	}
	for _, name := range []string{
		"/d/job_1_0001/m_000000/f", "/d/job_1_0001/m_000000/m_000000/attempt_1_0001_a/f", "/d/job_1_0001/m_000000/attempt_2_0001_a/f", "/d/job_1_0001/m_000000/attempt_1_0001_a/b/c/d",
		"/d/job_1_0001/logs/m_000000/attempt_1_0001_a/stdout",
		"", "/etc/passwd", "/d/job_2_0001/attempt_2_0001_a/f", "/d/job_1_0001/logs/f", "/d/job_1_0001/logs/attempt_1_0001_a/stdout", "/d/job_1_0001/", "/d/job_1_0001/f", "/d/job_1_0001/../f", "/d/job_1_0001/attempt_1_0001_a/../../f",
		"/d/job_1_0001/attempt_1_0001_a/b/c/d", "/d/job_1_0001/attempt_1_0001_a/f?verify=true", "/d/job_1_0001/attempt_1_0001_a/%2e%2e",
	} {
		if f, err := FileOf("h:1", "job_1_0001", name); err == nil {
			t.Errorf("%q: accepted as %v", name, f)
		}
	}
}

// TestRetryLater checks which errors RetryLater reports as temporary.
func TestRetryLater(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	busy := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	for address, want := range map[string]struct {
		after time.Duration
		later bool
	}{listen(t, n.server): {}, busy: {3 * time.Second, true}, unresponsiveAddress(t): {0, true}} {
		f := newFetcher(t, FetcherConfig{Token: testToken, ConnectTimeout: 20 * time.Millisecond, IdleTimeout: 20 * time.Millisecond})
		_, err := f.Open(context.Background(), File{Address: address, Job: "job", Path: "attempt/none"}, 0, -1)
		after, later := RetryLater(err)
		if err == nil || after != want.after || later != want.later {
			t.Errorf("%s: %v: %v %v", address, err, after, later)
		}
	}
}
