package shuffle

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/fault"
	"github.com/hammr/hammr/storage/mem"
)

// collectOn sorts records on a file system, with several spills and merge passes.
func collectOn(fsys storage.FS, records []pair, codec Codec) (*Index, error) {
	b, err := NewSortBuffer(context.Background(), Options{
		FS: fsys, Path: "/job/map/data", Partitions: 2, Memory: minMemory, MaxRuns: 1, Factor: 2, Codec: codec,
	})
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		b.Emit([]byte(r.key), []byte(r.value))
	}
	return b.Finish(context.Background())
}

// foldOn counts keys on a file system, with several spills.
func foldOn(fsys storage.FS, records []pair, codec Codec) (*Index, error) {
	table, err := NewFoldTable(context.Background(), Options{
		FS: fsys, Path: "/job/map/data", Partitions: 2, Memory: minMemory, MaxRuns: 1, Codec: codec,
	}, sumFold)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		table.Emit([]byte(r.key), 1)
	}
	return table.Finish(context.Background())
}

// gatherOn adds the runs of a partition to an intake and reads them. It returns the error of
// reading as err and the error of closing as left.
func gatherOn(fsys storage.FS, sources []Source, codec Codec) (got []pair, err, left error) {
	in, err := NewIntake(IntakeOptions{FS: fsys, Dir: "/job/reduce", Memory: 300 << 10, Factor: 2, Codec: codec})
	if err != nil {
		return nil, err, nil
	}
	for i, s := range sources {
		if err = addOne(in, s, i%3 == 0); err != nil {
			return nil, err, in.Close()
		}
	}
	m, err := in.Merge(context.Background())
	if err != nil {
		return nil, err, in.Close()
	}
	for m.Next() {
		got = append(got, pair{string(m.Key()), string(m.Value())})
	}
	return got, m.Err(), in.Close()
}

// listing returns the names of all files below a directory.
func listing(t *testing.T, fsys storage.FS, dir string) string {
	t.Helper()
	infos, err := fsys.List(context.Background(), dir)
	if err != nil {
		return ""
	}
	var names []string
	for _, i := range infos {
		if i.IsDir {
			names = append(names, listing(t, fsys, i.Path))
		} else {
			names = append(names, i.Path)
		}
	}
	return strings.TrimSpace(strings.Join(names, " "))
}

// TestCollectorsSurviveEveryFault injects a fault into each file system call in turn. Either
// the attempt fails with an error that names the file and the cause, and leaves no files. Or
// its output equals that of an undisturbed run.
func TestCollectorsSurviveEveryFault(t *testing.T) {
	records := recordKinds["random"](rand.New(rand.NewPCG(1, 3)), 6000)
	for name, work := range map[string]func(storage.FS, []pair, Codec) (*Index, error){"sort": collectOn, "fold": foldOn} {
		probe := fault.New(mem.New(mem.Options{}), fault.Options{})
		want, err := work(probe, records, None)
		must.Do(t, err)
		for n := 1; n <= probe.Calls(); n++ {
			inner := mem.New(mem.Options{})
			x, err := work(fault.New(inner, fault.Options{}, fault.Rule{Nth: n, Times: 1, Err: syscall.ENOSPC}), records, None)
			switch {
			case err == nil && x.DataChecksum == want.DataChecksum:
			case !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "/job/map/data"):
				t.Errorf("%s: call %d struck: error %v", name, n, err)
			case listing(t, inner, "/job") != "":
				t.Errorf("%s: call %d struck: files left: %s", name, n, listing(t, inner, "/job"))
			}
		}
	}
}

// TestIntakeSurvivesEveryFault does the same for the reduce side.
func TestIntakeSurvivesEveryFault(t *testing.T) {
	inner := mem.New(mem.Options{})
	var sources []Source
	for i := range 7 {
		records := recordKinds["random"](rand.New(rand.NewPCG(2, uint64(i))), 1000*i)
		b, err := NewSortBuffer(context.Background(), Options{FS: inner, Path: "/maps/" + string(rune('a'+i)), Partitions: 1})
		must.Do(t, err)
		for _, r := range records {
			b.Emit([]byte(r.key), []byte(r.value))
		}
		x, err := b.Finish(context.Background())
		must.Do(t, err)
		sources = append(sources, x.Sources(inner, 0, Ordinal{Input: int32(i)})...)
	}
	on := func(fsys storage.FS) []Source {
		moved := make([]Source, len(sources))
		for i, s := range sources {
			s.FS = fsys
			moved[i] = s
		}
		return moved
	}
	probe := fault.New(inner, fault.Options{})
	want, err, _ := gatherOn(probe, on(probe), S2)
	must.Do(t, err)
	for n := 1; n <= probe.Calls(); n++ {
		for _, rule := range []fault.Rule{
			{Nth: n, Times: 1, Err: syscall.EIO},
			{Op: fault.Read, Offset: int64(n * 37), Nth: n/4 + 1, Times: 1, Corrupt: true},
		} {
			bad := fault.New(inner, fault.Options{}, rule)
			got, err, left := gatherOn(bad, on(bad), S2)
			switch {
			case err == nil && len(got) == len(want):
				samePairs(t, got, want)
			case err == nil || !strings.Contains(err.Error(), "/") && !errors.Is(err, storage.ErrCorrupt):
				t.Errorf("%+v: %d records, error %v", rule, len(got), err)
			}
			if files := listing(t, inner, "/job"); files != "" && left == nil {
				t.Errorf("%+v: files left: %s", rule, files)
			}
			must.Do(t, inner.Remove(context.Background(), "/job", true))
		}
	}
}

func TestPanicOfAFoldIsAnErrorOfTheTable(t *testing.T) {
	fold := sumFold
	fold.Fold = Always(func(acc, v int64) int64 {
		if v == 7 {
			panic(errors.New("seven"))
		}
		return acc + v
	})
	table, err := NewFoldTable(t.Context(), testOptions(t, 2), fold)
	must.Do(t, err)
	for i := range int64(3 * foldBatch) {
		table.Emit([]byte("k"), i)
	}
	var panicked *PanicError
	if err := table.Err(); !errors.As(err, &panicked) || err.Error() != "fold: panic: seven" || !bytes.Contains(panicked.Stack, []byte("TestPanicOfAFold")) {
		t.Errorf("error %v", err)
	}
	if _, err := table.Finish(t.Context()); !errors.As(err, &panicked) {
		t.Errorf("finished with %v", err)
	}
}
