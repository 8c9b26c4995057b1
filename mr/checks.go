package mr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/data/format/seqfile"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
)

// request is a run of a job before anything of it is read or submitted.
type request struct {
	files *storage.Router
	det   details
	conf  *conf.Conf
	run   JobRun
}

// check is one reason to refuse a request. What a task would find after hours is refused before
// the first task starts.
type check struct {
	name  string
	files bool // asks file systems; the others look at the command line and the properties alone
	find  func(ctx context.Context, r *request) error
}

// checks are all checks of a request that are not those of a single property, which are in the table
// of package conf. TestRefusedSubmissions has a job for each.
var checks = []check{
	{"codec of map output", false, checkMapCodec},
	{"codec of output", false, checkOutputCodecs},
	{"name of output", false, checkOutputName},
	{"names of inputs", false, checkInputNames},
	{"names of side files", false, checkSideNames},
	{"side files", true, checkSideFiles},
	{"new output", true, checkNewOutput},
	{"output apart from inputs", true, checkApart},
}

// check makes all checks. It reports everything that is wrong with the command line and the
// properties at once, as ErrUsage. File systems are asked only if nothing is.
func (r *request) check(ctx context.Context) error {
	var errs []error
	for _, c := range checks {
		if !c.files {
			errs = append(errs, c.find(ctx, r))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	for _, c := range checks {
		if c.files {
			if err := c.find(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkMapCodec refuses unknown names of codecs. A codec that is not used is not checked.
func checkMapCodec(_ context.Context, r *request) error {
	if !r.conf.Bool(conf.MapOutputCompress) {
		return nil
	}
	if _, err := shuffle.ParseCodec(r.conf.String(conf.MapOutputCompressCodec)); err != nil {
		return fmt.Errorf("%s: %w", conf.MapOutputCompressCodec, err)
	}
	return nil
}

// checkOutputCodecs refuses unknown codecs, and those that a format of the job's outputs cannot
// have.
func checkOutputCodecs(_ context.Context, r *request) error {
	if !r.conf.Bool(conf.OutputCompress) {
		return nil
	}
	if _, err := seqfile.ParseCompression(r.conf.String(conf.OutputCompressType)); err != nil {
		return fmt.Errorf("%s: %w", conf.OutputCompressType, err)
	}
	if _, err := outputCodec(r.conf); err != nil {
		return err
	}
	for _, format := range r.det.outputs {
		if f, ok := format.(interface{ checkCodec(*conf.Conf) error }); ok {
			if err := f.checkCodec(r.conf); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkOutputName refuses a job that writes files and has no directory for them.
func checkOutputName(_ context.Context, r *request) error {
	writes := func(format any) bool {
		_, none := format.(interface{ withoutFiles() })
		return !none
	}
	if r.run.Out == "" && slices.ContainsFunc(r.det.outputs, writes) {
		return errNoOutput
	}
	return nil
}

var errNoOutput = errors.New("no output directory, but the job writes files; name a new directory")

// checkInputNames refuses an empty name, which is most likely an empty variable of a script.
func checkInputNames(_ context.Context, r *request) error {
	if i := slices.Index(r.run.In, ""); i >= 0 {
		return fmt.Errorf("input %d has an empty name; name a file or directory", i+1)
	}
	return nil
}

// checkSideNames refuses side files that have one name for tasks.
func checkSideNames(_ context.Context, r *request) error {
	seen := make(map[string]bool)
	for _, f := range sideFiles(r.conf) {
		switch {
		case f.name == "":
			return fmt.Errorf("%s: %s: a side file without a name; write FILE#NAME", conf.Files, f)
		case seen[f.name]:
			return fmt.Errorf("%s: two side files are called %s; give one of them another name, as in FILE#NAME", conf.Files, f.name)
		}
		seen[f.name] = true
	}
	return nil
}

// checkSideFiles refuses side files that do not exist, directories, and what is no regular file.
func checkSideFiles(ctx context.Context, r *request) error {
	for _, f := range sideFiles(r.conf) {
		fsys, p, err := r.files.Resolve(ctx, f.location)
		if err != nil {
			return fmt.Errorf("side file %s: %w", f.name, err)
		}
		info, err := fsys.Stat(ctx, p)
		if err != nil {
			return fmt.Errorf("side file %s: %w", f.name, err)
		}
		if info.IsDir {
			return fmt.Errorf("side file %s: %s is a directory; name a file", f.name, storage.Name(fsys, p))
		}
		if err := storage.CheckRegular(ctx, fsys, info); err != nil {
			return fmt.Errorf("side file %s: %w", f.name, err)
		}
	}
	return nil
}

// checkNewOutput refuses an output directory that exists, as FileOutputFormat.checkOutputSpecs
// does. The master checks it once more when it makes the directory.
func checkNewOutput(ctx context.Context, r *request) error {
	if r.run.Out == "" {
		return nil
	}
	fsys, p, err := r.files.Resolve(ctx, r.run.Out)
	if err != nil {
		return err
	}
	return storage.CheckOutput(ctx, fsys, p, storage.Name(fsys, p))
}

// checkApart refuses an output directory that lies inside an input: the job would read its own
// output when it runs again. It ignores names that no file system has, because custom formats may
// understand them.
func checkApart(ctx context.Context, r *request) error {
	if r.run.Out == "" {
		return nil
	}
	outFS, out, err := r.files.Resolve(ctx, r.run.Out)
	if err != nil {
		return err
	}
	outID, err := storage.Identify(ctx, outFS, out)
	if err != nil {
		return err
	}
	for _, in := range r.run.In {
		if r.files.CheckName(in) != nil {
			continue
		}
		fsys, p, err := r.files.Resolve(ctx, in)
		if err != nil {
			return err
		}
		for _, dir := range inputDirs(ctx, fsys, p) {
			if id, err := storage.Identify(ctx, fsys, dir); err == nil && id.Contains(outID) {
				return fmt.Errorf("output directory %s lies inside the input %s; choose another one", storage.Name(outFS, out), storage.Name(fsys, dir))
			}
		}
	}
	return nil
}

// inputDirs returns the path of an input, or the directories that a glob matches. Errors are
// reported when the input is divided into splits.
func inputDirs(ctx context.Context, fsys storage.FS, p string) (dirs []string) {
	if !storage.HasGlob(p) {
		return []string{p}
	}
	matches, _ := storage.Glob(ctx, fsys, p)
	for _, m := range matches {
		if m.IsDir {
			dirs = append(dirs, m.Path)
		}
	}
	return dirs
}

// sideFile is a side file of a job, as mapreduce.job.cache.files names it: LOCATION or
// LOCATION#NAME.
type sideFile struct {
	location string
	name     string // by which tasks open it: the last part of the location if none is given
}

func (f sideFile) String() string { return f.location + "#" + f.name }

// sideFiles returns the side files of a job.
func sideFiles(c *conf.Conf) (all []sideFile) {
	for _, text := range c.Strings(conf.Files) {
		f := sideFile{}
		var named bool
		if f.location, f.name, named = strings.Cut(text, "#"); !named {
			f.name = f.location[strings.LastIndexByte(f.location, '/')+1:]
		}
		all = append(all, f)
	}
	return all
}
