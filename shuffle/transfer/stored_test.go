package transfer

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

// store moves an output to shared storage, where every machine can read it.
func (m *mapOutput) store(t *testing.T) (o *mapOutput, data string) {
	t.Helper()
	fsys := local.New(local.Options{})
	data = filepath.Join(t.TempDir(), "stored.out")
	index, err := m.index.Move(context.Background(), fsys, fsys, data, storage.CreateOptions{})
	must.Do(t, err)
	stored := &mapOutput{segment: m.segment, index: index}
	stored.segment.Output.Stored = storage.Name(fsys, data)
	return stored, data
}

// TestFetchOfStoredOutput fetches a stored output without any server.
func TestFetchOfStoredOutput(t *testing.T) {
	resolve := func(_ context.Context, name string) (storage.FS, string, error) {
		return local.New(local.Options{}), strings.TrimPrefix(name, "file:"), nil
	}
	fetch := func(t *testing.T, m *mapOutput, partition int) (*shuffle.Intake, error) {
		in := newIntake(t, 1<<20)
		_, err := newFetcher(t, FetcherConfig{Resolve: resolve}).Fetch(context.Background(), partOf(m.segment, partition), in)
		return in, err
	}
	n := newTestMachine(t, ServerConfig{})
	write := func() *mapOutput { return n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 1000, 2) }
	m := write()
	want := readHere(t, 1, m)
	stored, data := m.store(t)
	if left, err := os.ReadDir(filepath.Dir(m.path())); err != nil || len(left) > 0 {
		t.Errorf("left on the machine: %v, %v", left, err)
	}
	in, err := fetch(t, stored, 1)
	must.Do(t, err)
	if readIntake(t, in) != want {
		t.Error("not the records that were written")
	}
	flip(t, data, stored.index.Partitions[1][0].Offset)
	if _, err := fetch(t, stored, 1); !errors.As(err, new(*LostError)) {
		t.Errorf("corrupt data: %v", err)
	}
	flip(t, shuffle.IndexPath(data), 20)
	if _, err := fetch(t, stored, 0); !errors.As(err, new(*LostError)) {
		t.Errorf("corrupt index: %v", err)
	}
	must.Do(t, os.Remove(shuffle.IndexPath(data)))
	if _, err := fetch(t, stored, 0); !errors.As(err, new(*LostError)) {
		t.Errorf("no index: %v", err)
	}
	m = write()
	flip(t, m.path(), 3)
	fsys := local.New(local.Options{})
	bad := filepath.Join(t.TempDir(), "bad")
	if _, err := m.index.Move(context.Background(), fsys, fsys, bad, storage.CreateOptions{}); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("move of corrupt data: %v", err)
	}
	if _, err := os.Stat(bad); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}
