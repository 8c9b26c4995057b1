package splits

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/storage"
)

// maxSampled is the number of parts of a split whose blocks are looked up. If a split has
// more parts, a sample suffices to find the hosts that have most of it.
const maxSampled = 100

// Locate looks up the hosts of splits that are Unlocated, in the order of the splits. It
// looks up at most limit files at a time, and each file once. For each split with hosts it
// calls found with the number of the split and the hosts that have most of it, best first.
// It calls found from one goroutine at a time.
//
// If the blocks of some files cannot be determined, the error has the number of such files
// and the cause for one of them. All other splits are still located.
func Locate(ctx context.Context, resolve Resolve, limit int, all []*taskproc.Split, found func(split int, hosts []string)) error {
	l := locating{found: found, names: make(map[string]string)}
	group := new(errgroup.Group)
	group.SetLimit(limit)
	for _, f := range wanted(all) {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			l.lookUp(ctx, resolve, f)
			return nil
		})
	}
	_ = group.Wait() // failures are counted
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if l.mu.missing > 0 {
		return fmt.Errorf("block locations of %d files are unknown; for one of them: %w", l.mu.missing, l.mu.fault)
	}
	return nil
}

// unplaced is a split with files that have not been looked up yet.
type unplaced struct {
	number int
	left   int // parts to be added to load
	load   load
}

// needed is a part of a split. Parts are grouped by file: a large file may have parts of
// many splits, but its blocks are looked up once.
type needed struct {
	of            *unplaced
	start, length int64
}

// file is a file whose blocks are wanted, with the parts that need them.
type file struct {
	name  string
	parts []needed
}

// wanted returns the files whose blocks determine the hosts of splits, in the order of the
// splits.
func wanted(all []*taskproc.Split) []*file {
	var files []*file
	byName := make(map[string]*file)
	for number, s := range all {
		if !s.Unlocated {
			continue
		}
		u := &unplaced{number: number, load: make(load)}
		step := (len(s.Parts) + maxSampled - 1) / maxSampled
		for i := 0; i < len(s.Parts); i += step {
			p := s.Parts[i]
			if p.Path == "" || p.Length == 0 {
				continue
			}
			f := byName[p.Path]
			if f == nil {
				f = &file{name: DecodePath(p.Path)}
				byName[p.Path] = f
				files = append(files, f)
			}
			f.parts = append(f.parts, needed{u, p.Start, p.Length})
			u.left++
		}
	}
	return files
}

// extent returns the range of the file's bytes that is needed.
func (f *file) extent() (offset, length int64) {
	offset, end := f.parts[0].start, int64(0)
	for _, p := range f.parts {
		offset, end = min(offset, p.start), max(end, p.start+p.length)
	}
	return offset, end - offset
}

// locating has the results of a Locate so far. Lookups run concurrently. A split is complete
// when all its files have been looked up.
type locating struct {
	found func(split int, hosts []string) // called with mu held
	names map[string]string               // names of hosts, each once; used with mu held
	mu    struct {
		sync.Mutex
		missing int   // number of files without known blocks
		fault   error // error of the first such file
	}
}

// lookUp requests the blocks of a file.
func (l *locating) lookUp(ctx context.Context, resolve Resolve, f *file) {
	fsys, path, err := resolve(f.name)
	var blocks []storage.Block
	if err == nil {
		offset, length := f.extent()
		blocks, err = fsys.Blocks(ctx, path, offset, length)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if l.mu.missing++; l.mu.missing == 1 {
			l.mu.fault = fmt.Errorf("%s: %w", f.name, err)
		}
	}
	for _, p := range f.parts {
		p.of.load.add(blocks, p.start, p.length)
		if p.of.left--; p.of.left == 0 {
			l.place(p.of)
		}
	}
}

// place determines the hosts of a split. It shares one string for each host name, because an
// input of a million splits would otherwise have a million copies.
func (l *locating) place(u *unplaced) {
	hosts := u.load.best()
	u.load = nil
	for i, host := range hosts {
		name, known := l.names[host]
		if !known {
			name = host
			l.names[host] = name
		}
		hosts[i] = name
	}
	if len(hosts) > 0 {
		l.found(u.number, hosts)
	}
}
