package shuffle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

// rangesOf serves ranges of data and counts the bytes read.
func rangesOf(data []byte, read *int64) OpenRange {
	return func(_ context.Context, offset, length int64) (io.ReadCloser, error) {
		part := data[min(offset, int64(len(data))):min(offset+length, int64(len(data)))]
		*read += int64(len(part))
		return io.NopCloser(bytes.NewReader(part)), nil
	}
}

// copySources copies the remaining part of each source into a file of its own.
func copySources(t testing.TB, sources []Source) (copied []Source, read int64) {
	t.Helper()
	for i, s := range sources {
		data, err := os.ReadFile(s.Path)
		must.Do(t, err)
		var b bytes.Buffer
		run, from, err := CopyRest(context.Background(), rangesOf(data, &read), &b, s.Run, s.From)
		must.Do(t, err)
		r := s.rank()
		c := Source{FS: local.New(local.Options{}), Path: filepath.Join(t.TempDir(), "run"), Run: run, From: from, Ordinal: r.ordinal, Sequence: r.sequence}
		if err := os.WriteFile(c.Path, b.Bytes(), 0o600); err != nil {
			t.Fatal(i, err)
		}
		copied = append(copied, c)
	}
	return copied, read
}

// taggedSources merges the sources into one tagged run.
func taggedSources(t testing.TB, sources []Source) Source {
	t.Helper()
	in, err := NewIntake(IntakeOptions{FS: local.New(local.Options{}), Dir: t.TempDir()})
	must.Do(t, err)
	merged, err := in.mergeToFile(context.Background(), sources)
	must.Do(t, err)
	return merged
}

// maxTable is more than the table of two sources takes, even if its header is read twice.
const maxTable = 200 // bytes

// longSources returns sources of several blocks each, and the expected result of merging
// them.
func longSources(t testing.TB, r *rand.Rand, n int, codec Codec) (sources []Source, twin []pair) {
	t.Helper()
	for i := range n {
		var records []pair
		for j := range 300 {
			records = append(records, pair{fmt.Sprint(r.IntN(100)), fmt.Sprintf("map %d record %d %x", i, j, r.Uint64()) + strings.Repeat("x", 700)})
		}
		x, fsys := mapOutput(t, fmt.Sprint(i), codec, records)
		sources = append(sources, x.Sources(fsys, 0, Ordinal{Input: int32(i)})...)
		twin = append(twin, records...)
	}
	return sources, sortedTwin(twin, 1, func([]byte) int { return 0 })[0]
}

// TestCopyRestMergesAlike stops a merge at various records. From there, a merge of copied
// sources yields the same records as a merge of the original files.
func TestCopyRestMergesAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, codec := range []Codec{None, S2} {
		sources, want := longSources(t, r, 5, codec)
		sources = append(sources[2:len(sources):len(sources)], taggedSources(t, sources[:2]))
		m := mergeSources(t, sources)
		for i := 0; m.Next(); i++ {
			if i%testlevel.Choose(389, 97) != 0 && i < len(want)-2 {
				continue
			}
			at := sourcesAt(sources, m.Positions())
			copied, read := copySources(t, at)
			samePairs(t, readMerge(t, mergeSources(t, copied)), want[i:])
			left := int64(maxTable)
			for _, s := range at {
				left += s.remaining()
			}
			if read > left {
				t.Errorf("%d bytes read at record %d, of which %d are left", read, i, left)
			}
		}
		must.Do(t, errors.Join(m.Err(), m.Close()))
	}
}

// TestCopyRestFindsDamage flips bits of the copied data or cuts it short.
func TestCopyRestFindsDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 10))
	sources, _ := mapSources(t, r, 3, "random", None)
	s := taggedSources(t, sources)
	data, err := os.ReadFile(s.Path)
	must.Do(t, err)
	try := func(data []byte) error {
		var read int64
		_, _, err := CopyRest(context.Background(), rangesOf(data, &read), io.Discard, s.Run, s.From)
		return err
	}
	for range 200 {
		at := s.Run.Offset + r.Int64N(s.Run.Length)
		broken := bytes.Clone(data)
		broken[at] ^= 1 << r.IntN(8)
		for what, b := range map[string][]byte{"flipped": broken, "cut": data[:at]} {
			if err := try(b); !errors.Is(err, storage.ErrCorrupt) || !errors.As(err, new(*SourceError)) {
				t.Fatalf("%s at %d: %v", what, at, err)
			}
		}
	}
	if err := try(data); err != nil {
		t.Errorf("sound: %v", err)
	}
}

// fullDisk is a writer that fails every write.
type fullDisk struct{}

var errFull = errors.New("no space")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestCopyRestBlamesTheRightSide(t *testing.T) {
	sources, _ := mapSources(t, rand.New(rand.NewPCG(1, 1)), 1, "random", None)
	data, err := os.ReadFile(sources[0].Path)
	must.Do(t, err)
	var read int64
	_, _, err = CopyRest(context.Background(), rangesOf(data, &read), fullDisk{}, sources[0].Run, RunPosition{})
	if !errors.Is(err, errFull) || errors.As(err, new(*SourceError)) {
		t.Errorf("full disk: %v", err)
	}
	_, _, err = CopyRest(context.Background(), rangesOf(data, &read), io.Discard, sources[0].Run, RunPosition{BlockOffset: 1 << 40})
	if !errors.As(err, new(*SourceError)) {
		t.Errorf("a place beyond the run: %v", err)
	}
}
