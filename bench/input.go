package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Input is a file that is generated once and kept. The name and the size are its file name,
// so inputs of several sizes are kept side by side.
type Input struct {
	Name string
	// Bytes returns the input's size, given the size of the main files.
	Bytes func(size int64) int64
	// Yardstick are the arguments of the yardstick's generator before and after the size.
	// Without them, Generate writes the file.
	Yardstick [2]string
	Generate  func(w *bufio.Writer, bytes int64) error
}

func fullSize(size int64) int64  { return size }
func fourTimes(size int64) int64 { return 4 * size }
func quarter(size int64) int64   { return max(size/4, 1<<20) }
func kibibyte(int64) int64       { return 1 << 10 }

// size returns the number of bytes in this run.
func (in Input) size(k *Kit) int64 { return in.Bytes(k.cfg.SizeBytes) }

// path returns the file's place, whether it exists or not.
func (in Input) path(k *Kit) string {
	return filepath.Join(k.cfg.Dir, fmt.Sprintf("%s-%d", in.Name, in.size(k)))
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
		return fmt.Errorf("generating %s: %w", name, err)
	}
	return os.Rename(unfinished, name)
}

// The yardstick's generators take a seed, so all machines have the same input.
func (in Input) generate(ctx context.Context, k *Kit, name string) error {
	if in.Generate == nil {
		return run(ctx, Command{
			Args:   []string{k.program("gen"), in.Yardstick[0], fmt.Sprint(in.size(k)), in.Yardstick[1]},
			Stdout: name,
		})
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(in.Generate(w, in.size(k)), w.Flush(), f.Close())
}

// warm reads the file once, which brings it into the page cache as far as memory allows.
func (in Input) warm(k *Kit) error {
	f, err := os.Open(in.path(k))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}
