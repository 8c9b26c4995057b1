package testdfsio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/hammr/hammr/mr"
)

// baseProperty is the property for the base directory, as in Hadoop.
const (
	baseProperty = "test.build.data"
	defaultBase  = "/benchmarks/TestDFSIO"
)

// bench is one run of the program on the client. The maps get their parameters from Config.
type bench struct {
	*mr.Driver
	options
	base string // full name: tasks run elsewhere
}

// newBench resolves the base directory to its full name, which means the same on every machine.
func newBench(ctx context.Context, d *mr.Driver, o options) (*bench, error) {
	name := d.Property(baseProperty)
	if name == "" {
		name = defaultBase
	}
	fsys, path, err := d.Resolve(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", baseProperty, err)
	}
	return &bench{Driver: d, options: o, base: fsys.URI() + path}, nil
}

// The directories that the package comment describes.
func (b *bench) control() string           { return b.base + "/io_control" }
func (b *bench) data() string              { return b.base + "/io_data" }
func (b *bench) output(test string) string { return b.base + "/io_" + test }

// fileName returns the name of a file in the data directory, as Hadoop names it.
func fileName(i int) string { return fmt.Sprintf("test_io_%d", i) }

// prepare makes a control file for each map, after it has removed the files of an earlier
// run of the same test. A read keeps the data files and checks that there are enough. The
// jobs' outputs are removed as well, since a job refuses an output directory that exists.
func (b *bench) prepare(ctx context.Context) error {
	old := []string{b.control(), b.output(b.test)}
	if b.test == testWrite {
		old = append(old, b.data())
	} else if err := b.checkData(ctx); err != nil {
		return err
	}
	for _, dir := range old {
		if err := b.Remove(ctx, dir); err != nil {
			return err
		}
	}
	for i := range b.files {
		if err := b.writeControl(ctx, fileName(i)); err != nil {
			return fmt.Errorf("control files: %w", err)
		}
	}
	return nil
}

// checkData returns an error if there are fewer files than the test is to read. Otherwise
// each map would fail several times, and the error would not show the cause.
func (b *bench) checkData(ctx context.Context) error {
	found, err := b.Outputs(ctx, b.data())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(found) < b.files {
		return fmt.Errorf("%d files to read, but there are %d in %s; write them with -write -nrFiles %d first",
			b.files, len(found), b.data(), b.files)
	}
	return nil
}

// writeControl writes one control file: a line of the name and the size, with a tab between.
// Each file is a split, since hammr.input.combine is off, and so each is a map.
func (b *bench) writeControl(ctx context.Context, name string) error {
	w, err := b.Create(ctx, b.control()+"/in_file_"+name)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s\t%d\n", name, b.size); err != nil {
		_ = w.Abort()
		return err
	}
	return w.Close()
}

// measure runs the job, one map for each control file, and returns the sums that its reduces
// have written. A sum may lie in any part, so it reads all parts. hammr.input.combine is
// off: otherwise the small control files would be one split with one map.
func (b *bench) measure(ctx context.Context) (sums, error) {
	job, out := Write, b.output(b.test)
	if b.test == testRead {
		job = Read
	}
	err := b.Run(ctx, job, mr.JobRun{
		In: []string{b.control()}, Out: out,
		Config: Config{Data: b.data(), BufferSize: b.buffer},
		Set:    map[string]string{"hammr.input.combine": "false"},
	})
	if err != nil {
		return nil, err
	}
	names, err := b.Outputs(ctx, out)
	if err != nil {
		return nil, err
	}
	all := make(sums)
	for _, name := range names {
		if err := b.addFile(ctx, all, name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// addFile adds the sums in one output file. The files are small: a line for each name.
func (b *bench) addFile(ctx context.Context, to sums, name string) error {
	f, err := b.Open(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if err := to.parse(string(content)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// clean removes the files of the program, and the base directory if nothing else is in it. A
// directory that does not exist is no error, so clean may run twice.
func (b *bench) clean(ctx context.Context) error {
	for _, dir := range []string{b.control(), b.data(), b.output(testWrite), b.output(testRead)} {
		if err := b.Remove(ctx, dir); err != nil {
			return err
		}
	}
	fsys, path, err := b.Resolve(ctx, b.base)
	if err != nil {
		return err
	}
	others, err := fsys.List(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || len(others) > 0 {
		return err
	}
	return fsys.Remove(ctx, path, false)
}
