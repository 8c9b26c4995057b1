package splits

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/storage"
)

// slop is the factor by which the last piece of a file may be longer than the others:
// FileInputFormat's SPLIT_SLOP. It avoids a tiny last split.
const slop = 1.1

// lookups is the number of files whose blocks Cut requests at once.
const lookups = 16

// Options determine how files are cut.
type Options struct {
	// MinSize is the least size of a split in bytes, if the file is that long; default 1.
	// mapreduce.input.fileinputformat.split.minsize.
	MinSize int64
	// MaxSize is the largest size, unless MinSize is larger; default: the block size.
	// mapreduce.input.fileinputformat.split.maxsize.
	MaxSize int64
	// Slots is the number of tasks that can run at once. If the blocks are too few for the
	// slots to finish together, splits are shorter than a block; see size. Default: unknown,
	// and a split is a block.
	Slots int
	// MinShare is the least size of a split that is shorter than a block because of Slots, in
	// bytes; default 4 MiB.
	MinShare int64
	// Combine puts neighbouring small files into one split, as long as they are together no
	// longer than a split. hammr.input.combine.
	Combine bool
	// Splittable reports whether a file can be read from an offset within it. Default:
	// always true.
	Splittable func(path string) bool
	// EmptyRecords makes a split for an empty file, with a part of one byte that does not
	// exist. It is for formats such as package whole, in which an empty file is a record.
	EmptyRecords bool
	// MaxLocated is the number of files up to which blocks are looked up. With more files, all
	// splits are Unlocated; Locate finds their hosts. Default: no limit.
	MaxLocated int

	share int64 // bytes of the input for one task, from Slots; MaxInt64 if they are unknown
}

// EnsureDefaults replaces zero values by their defaults.
func (o *Options) EnsureDefaults() {
	if o.MinSize <= 0 {
		o.MinSize = 1
	}
	if o.MaxSize <= 0 {
		o.MaxSize = math.MaxInt64
	}
	if o.MinShare <= 0 {
		o.MinShare = minShare
	}
	if o.Splittable == nil {
		o.Splittable = func(string) bool { return true }
	}
	if o.MaxLocated <= 0 {
		o.MaxLocated = math.MaxInt
	}
}

// File is one file of the input.
type File struct {
	FS   storage.FS
	Info storage.FileInfo
}

// name returns the full name, which tasks resolve.
func (f File) name() string { return f.FS.URI() + f.Info.Path }

// Cut divides files into splits, in the order of the files and of their bytes. An empty file is
// a split, or a part of one, without bytes, which no reader opens.
func Cut(ctx context.Context, opts Options, files []File) ([]*taskproc.Split, error) {
	opts.EnsureDefaults()
	opts.setShare(files)
	c := cutter{opts: opts, unlocated: len(files) > opts.MaxLocated}
	blocks := make([][]storage.Block, len(files))
	if !c.unlocated {
		var err error
		if blocks, err = lookUp(ctx, files); err != nil {
			return nil, err
		}
	}
	for i, f := range files {
		c.add(f, blocks[i])
	}
	c.flush()
	return c.splits, nil
}

// lookUp looks up the blocks of every file that is not empty, several files at a time.
func lookUp(ctx context.Context, files []File) ([][]storage.Block, error) {
	blocks := make([][]storage.Block, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lookups)
	for i, f := range files {
		if f.Info.Size == 0 {
			continue
		}
		group.Go(func() (err error) {
			if blocks[i], err = f.FS.Blocks(ctx, f.Info.Path, 0, f.Info.Size); err != nil {
				err = fmt.Errorf("%s: block locations: %w", f.name(), err)
			}
			return err
		})
	}
	return blocks, group.Wait()
}

// cutter makes splits of files that come one after another. A split of small files is pending
// until it is full, or until a larger file follows.
type cutter struct {
	opts      Options
	unlocated bool // the blocks of the file are unknown
	splits    []*taskproc.Split

	pending      *taskproc.Split // split of small files; nil if there is none
	pendingBytes int64
	pendingLoad  load
}

// add divides one file, or adds it to the pending split if small files are combined and it is
// shorter than a split. A file that cannot be read from within is one split.
//
//	FileInputFormat, size 100, file of 310:   100 100 110      the last may be 1.1 times as long
//	                           file of 320:   100 100 100 20
func (c *cutter) add(f File, blocks []storage.Block) {
	size, boundary := c.opts.size(f)
	if c.opts.Combine && f.Info.Size < size {
		c.combine(f, blocks, size)
		return
	}
	c.flush()
	var at int64
	splittable := c.opts.Splittable(f.Info.Path)
	if splittable {
		for float64(f.Info.Size-at)/float64(size) > slop {
			length := min(size, boundary-at%boundary)
			c.emit(f, at, length, blocks)
			at += length
		}
	}
	if at < f.Info.Size || at == 0 {
		c.emit(f, at, c.length(f)-at, blocks)
	}
	c.splits[len(c.splits)-1].Unsplittable = !splittable
}

// length returns the total length of the parts of f, in bytes. An empty file that is a
// record gets one byte that does not exist, since a split without bytes would not be read.
func (c *cutter) length(f File) int64 {
	if f.Info.Size == 0 && c.opts.EmptyRecords {
		return 1
	}
	return f.Info.Size
}

// emit adds a split of one part.
func (c *cutter) emit(f File, start, length int64, blocks []storage.Block) {
	l := make(load)
	l.add(blocks, start, length)
	c.splits = append(c.splits, &taskproc.Split{
		Parts: []*taskproc.Split_Part{part(f, start, length)},
		Hosts: l.best(), Unlocated: c.unlocated,
	})
}

// maxParts is the largest number of files in one split. It bounds the message that carries the
// split, and the files that one task opens, if the files have few bytes or none.
const maxParts = 10_000

// combine adds a whole file to the pending split. If that split would become longer than
// size, or have more than maxParts files, combine starts a new one.
func (c *cutter) combine(f File, blocks []storage.Block, size int64) {
	if c.pending != nil && (c.pendingBytes+f.Info.Size > size || len(c.pending.Parts) == maxParts) {
		c.flush()
	}
	if c.pending == nil {
		c.pending = &taskproc.Split{Unlocated: c.unlocated}
		c.pendingBytes, c.pendingLoad = 0, make(load)
	}
	c.pending.Parts = append(c.pending.Parts, part(f, 0, c.length(f)))
	c.pending.Unsplittable = c.pending.Unsplittable || !c.opts.Splittable(f.Info.Path)
	c.pendingBytes += f.Info.Size
	c.pendingLoad.add(blocks, 0, f.Info.Size)
}

// flush ends the pending split.
func (c *cutter) flush() {
	if c.pending == nil {
		return
	}
	c.pending.Hosts = c.pendingLoad.best()
	c.splits = append(c.splits, c.pending)
	c.pending = nil
}

// part returns the message for a part of a file.
func part(f File, start, length int64) *taskproc.Split_Part {
	p := &taskproc.Split_Part{
		Path: EncodePath(f.name()), Start: start, Length: length, FileSize: f.Info.Size, Inode: f.Info.Inode, Machine: f.Info.Machine,
	}
	if !f.Info.ModTime.IsZero() {
		p.Modified = f.Info.ModTime.UnixNano()
	}
	return p
}

// CutAt creates a split for each of the ranges of a plain file. The ranges are contiguous;
// text.CutEvery returns such ranges.
func CutAt(ctx context.Context, f File, ranges []dag.Range) ([]*taskproc.Split, error) {
	blocks, err := lookUp(ctx, []File{f})
	if err != nil {
		return nil, err
	}
	var c cutter
	for _, r := range ranges {
		end := min(r.End.Offset, f.Info.Size)
		c.emit(f, r.Start.Offset, end-r.Start.Offset, blocks[0])
	}
	return c.splits, nil
}

// maxHosts is the number of hosts that a split names. A scheduler needs no more.
const maxHosts = 3

// load is the number of bytes of a split that each host has.
type load map[string]int64

// add counts the bytes of blocks that lie in [start, start+length).
func (l load) add(blocks []storage.Block, start, length int64) {
	for _, b := range blocks {
		bytes := min(b.Offset+b.Length, start+length) - max(b.Offset, start)
		if bytes <= 0 {
			continue
		}
		for _, host := range b.Hosts {
			l[host] += bytes
		}
	}
}

// best returns the hosts with the most bytes, best first. Hosts with equal numbers are
// sorted by name.
func (l load) best() []string {
	hosts := slices.SortedFunc(maps.Keys(l), func(a, b string) int {
		return cmp.Or(cmp.Compare(l[b], l[a]), cmp.Compare(a, b))
	})
	return hosts[:min(len(hosts), maxHosts)]
}
