package splits

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

// counting counts the requests for the blocks of each file, and how many are concurrent.
// Requests for some files fail.
type counting struct {
	storage.FS
	mu    sync.Mutex
	asked map[string]int
	now   int
	most  int
}

var errLost = errors.New("lost")

func (c *counting) Blocks(ctx context.Context, path string, offset, length int64) ([]storage.Block, error) {
	c.mu.Lock()
	c.asked[path]++
	c.now++
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.now--
		c.mu.Unlock()
	}()
	if strings.Contains(path, "lost") {
		return nil, errLost
	}
	return c.FS.Blocks(ctx, path, offset, length)
}

// manyFiles returns a world of small and large files, and a file system that counts the
// requests for their blocks.
func manyFiles(t *testing.T, names ...string) (*world, *counting) {
	t.Helper()
	w, random := newWorld(), rand.New(rand.NewPCG(1, 2))
	for _, name := range names {
		w.put(t, name, make([]byte, random.IntN(2500)), 500)
	}
	return w, &counting{FS: w.fs, asked: make(map[string]int)}
}

func fileNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("/in/%04d", i))
	}
	return names
}

func (c *counting) resolve(w *world) Resolve {
	return func(name string) (storage.FS, string, error) {
		_, path, err := w.resolve(name)
		return c, path, err
	}
}

// TestLocateFindsWhatCutFinds checks that Locate and Cut find the same hosts for splits.
func TestLocateFindsWhatCutFinds(t *testing.T) {
	for _, combine := range []bool{false, true} {
		w, c := manyFiles(t, fileNames(60)...)
		opts := Options{MaxSize: 300, Combine: combine}
		want := w.cut(t, opts)
		opts.MaxLocated = 59
		got := w.cut(t, opts)
		if len(got) != len(want) {
			t.Fatalf("%d splits, not %d", len(got), len(want))
		}
		for _, s := range got {
			if !s.Unlocated || s.Hosts != nil {
				t.Fatalf("located already: %v", s)
			}
		}
		err := Locate(t.Context(), c.resolve(w), 4, got, func(n int, hosts []string) { got[n].Hosts = hosts })
		must.Do(t, err)
		for i := range got {
			if !slices.Equal(got[i].Hosts, want[i].Hosts) {
				t.Errorf("split %d lies on %v, not on %v", i, got[i].Hosts, want[i].Hosts)
			}
		}
		for name, times := range c.asked {
			if times != 1 {
				t.Errorf("%s was asked for %d times", name, times)
			}
		}
		if c.most > 4 {
			t.Errorf("%d files were asked for at once", c.most)
		}
	}
}

func TestFewFilesAreLocatedAtOnce(t *testing.T) {
	w, c := manyFiles(t, fileNames(5)...)
	all := w.cut(t, Options{MaxLocated: 5})
	err := Locate(t.Context(), c.resolve(w), 1, all, func(int, []string) { t.Error("found again") })
	if err != nil || len(c.asked) != 0 || all[0].Unlocated {
		t.Errorf("asked for %v, %v", c.asked, err)
	}
}

func TestUnlocatableFilesDoNotAffectOthers(t *testing.T) {
	w, c := manyFiles(t, "/in/1", "/in/lost1", "/in/2", "/in/lost2")
	all := w.cut(t, Options{MaxLocated: 1})
	found := 0
	err := Locate(t.Context(), c.resolve(w), 2, all, func(int, []string) { found++ })
	if !errors.Is(err, errLost) || !strings.Contains(err.Error(), "of 2 files") || !strings.Contains(err.Error(), "/in/lost") {
		t.Errorf("told of %v", err)
	}
	if whole := len(w.files) - 2; found < whole {
		t.Errorf("%d splits are located", found)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errLost)
	if err := Locate(ctx, c.resolve(w), 2, all, func(int, []string) {}); err != errLost {
		t.Errorf("when it is told to end: %v", err)
	}
}

// TestASplitOfVeryManyFilesIsSampled checks that Locate requests only as many blocks as it
// needs to determine the hosts.
func TestASplitOfVeryManyFilesIsSampled(t *testing.T) {
	w, c := manyFiles(t, "/in/1")
	s := &taskproc.Split{Unlocated: true}
	for i := range 10*maxSampled + 1 {
		s.Parts = append(s.Parts, &taskproc.Split_Part{Path: fmt.Sprintf("mem://test/lost%d", i), Length: 1})
	}
	err := Locate(t.Context(), c.resolve(w), 8, []*taskproc.Split{s}, func(int, []string) {})
	if !errors.Is(err, errLost) || len(c.asked) > maxSampled || len(c.asked) < maxSampled*9/10 {
		t.Errorf("%d files were asked for, %v", len(c.asked), err)
	}
}
