package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/bench/data"
)

// Input is a file or a directory that is generated once and kept. The name, the size and the
// seed are its file name, so inputs of several sizes are kept side by side. Exactly one of Command,
// Lines and Files is set.
type Input struct {
	Name string
	Seed uint64 // 0 for inputs whose seed never changes
	// Bytes returns the input's size, given the size of the main files; nil is the same size.
	Bytes func(size int64) int64

	// Command is the command of a program that writes the input.
	Command func(k *Kit, name string, bytes int64) Command
	// Lines writes the one file of the input.
	Lines func(w *bufio.Writer, r *rand.Rand, bytes int64) error
	// Files writes the files of the input into an empty directory.
	Files func(ctx context.Context, dir string, r *rand.Rand, bytes int64) error
}

func fourTimes(size int64) int64 { return 4 * size }
func quarter(size int64) int64   { return max(size/4, 1<<20) }
func kibibyte(int64) int64       { return 1 << 10 }

// size returns the number of bytes in this run.
func (in Input) size(k *Kit) int64 {
	if in.Bytes == nil {
		return k.cfg.SizeBytes
	}
	return in.Bytes(k.cfg.SizeBytes)
}

// path returns the file's place, whether it exists or not.
func (in Input) path(k *Kit) string {
	name := fmt.Sprintf("%s-%d", in.Name, in.size(k))
	if in.Seed != 0 {
		name += fmt.Sprintf("-%d", in.Seed)
	}
	return filepath.Join(k.cfg.Dir, name)
}

// ensure generates the file unless it is there already. It is generated under another name
// and renamed, so an interrupted run leaves no incomplete file.
func (in Input) ensure(ctx context.Context, k *Kit) error {
	name := in.path(k)
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fmt.Fprintf(k.cfg.Out, "generating %s\n", name)
	unfinished := filepath.Join(k.work, "input")
	if err := in.generate(ctx, k, unfinished); err != nil {
		return errors.Join(fmt.Errorf("generating %s: %w", name, err), os.RemoveAll(unfinished))
	}
	return os.Rename(unfinished, name)
}

// generate writes the input under a name.
func (in Input) generate(ctx context.Context, k *Kit, name string) error {
	if in.Command != nil {
		return run(ctx, in.Command(k, name, in.size(k)))
	}
	return in.Write(ctx, name, in.size(k))
}

// Write writes the input, which no Command writes, under a name that does not exist.
func (in Input) Write(ctx context.Context, name string, bytes int64) error {
	if in.Files != nil {
		if err := os.Mkdir(name, 0o755); err != nil {
			return err
		}
		return in.Files(ctx, name, in.random(), bytes)
	}
	return data.File(name, func(w *bufio.Writer) error { return in.Lines(w, in.random(), bytes) })
}

// random returns the random source of the input, so that every machine generates the same input. Inputs
// of the same seed have sources that are independent of each other.
func (in Input) random() *rand.Rand {
	if in.Seed == 0 {
		return rand.New(rand.NewPCG(42, 7))
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(in.Name)) // never fails
	return rand.New(rand.NewPCG(in.Seed, h.Sum64()))
}

// warm reads all files of the input once and returns their size. Reading brings them into the
// page cache as far as memory allows.
func (in Input) warm(k *Kit) (bytes int64, err error) {
	err = filepath.WalkDir(in.path(k), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.Copy(io.Discard, f)
		bytes += n
		return err
	})
	return bytes, err
}

// adversarial lists inputs on which sorts and hash tables often perform badly. Contests sort
// their lines and count their words.
var adversarial = []Input{
	{Name: "equal", Bytes: quarter, Lines: equalLines},
	{Name: "sorted", Bytes: quarter, Lines: sortedLines},
	{Name: "short", Bytes: quarter, Lines: shortLines},
	{Name: "long", Bytes: quarter, Lines: longLines},
	{Name: "zipf", Bytes: quarter, Lines: zipfLines},
}

// equalLines writes lines that are all equal. Some quicksorts take quadratic time on equal
// keys.
func equalLines(w *bufio.Writer, _ *rand.Rand, bytes int64) error {
	return data.Lines(w, bytes, func(dst []byte) []byte { return append(dst, "the same key on every line"...) })
}

// sortedLines writes lines in sorted order with long common prefixes, so comparisons read
// far into the keys.
func sortedLines(w *bufio.Writer, _ *rand.Rand, bytes int64) error {
	n := 0
	return data.Lines(w, bytes, func(dst []byte) []byte {
		n++
		return fmt.Appendf(dst, "record-%012d payload", n)
	})
}

// shortLines writes lines of five bytes, so that bookkeeping costs more than data.
func shortLines(w *bufio.Writer, random *rand.Rand, bytes int64) error {
	return data.Lines(w, bytes, func(dst []byte) []byte {
		x := random.Uint32()
		for range 4 {
			dst = append(dst, 'a'+byte(x%26))
			x /= 26
		}
		return dst
	})
}

// longLines writes lines of one MiB, so that a few lines fill a buffer. Each line is a
// record, so a spill holds only a few records.
func longLines(w *bufio.Writer, random *rand.Rand, bytes int64) error {
	const length = 1 << 20
	return data.Lines(w, min(bytes, bytes/length*length), func(dst []byte) []byte {
		for len(dst) < length-16 {
			dst = fmt.Appendf(dst, "%05x ", random.Uint32()>>12)
		}
		for len(dst) < length-1 {
			dst = append(dst, '.')
		}
		return dst
	})
}

// zipfLines writes a few very frequent keys and more rare keys than fit into a table in the
// CPU cache. The reduce of the most frequent key gets more records than the others.
func zipfLines(w *bufio.Writer, random *rand.Rand, bytes int64) error {
	zipf := rand.NewZipf(random, 1.1, 1, 50_000_000)
	return data.Lines(w, bytes, func(dst []byte) []byte {
		return fmt.Appendf(dst, "user%d %04x", zipf.Uint64(), random.Uint32()>>16)
	})
}
