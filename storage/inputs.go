package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Input is an input file of a job.
type Input struct {
	FileInfo
	FS   FS
	Name string // full name, as returned by Name
}

// Inputs finds the input files of a job in the way of Hadoop's FileInputFormat. A pattern is
// a file, a directory or a glob, in the form that Router.Resolve accepts. A directory stands
// for its files, except hidden ones, whose names start with "_" or ".". A subdirectory is
// searched if recursive is set and is an error otherwise. A glob matches a hidden name only
// if the last component of the pattern starts with the same character.
//
// A file that CheckRegular refuses is an error, also in a directory.
//
// Files are returned in the order of the patterns and, within a pattern, sorted by path. A
// file that two patterns match is returned twice. The error reports every pattern that
// failed, and wraps fs.ErrNotExist if a pattern matches nothing.
func Inputs(ctx context.Context, router *Router, patterns []string, recursive bool) ([]Input, error) {
	var inputs []Input
	var errs []error
	for _, pattern := range patterns {
		found, err := inputsOf(ctx, router, pattern, recursive)
		if err != nil {
			errs = append(errs, err)
		}
		inputs = append(inputs, found...)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return inputs, nil
}

// inputsOf returns the files of one pattern, sorted by path.
func inputsOf(ctx context.Context, router *Router, pattern string, recursive bool) ([]Input, error) {
	fsys, name, err := router.Resolve(ctx, pattern)
	if err != nil {
		return nil, err
	}
	matches, err := inputMatches(ctx, fsys, name)
	if err != nil {
		return nil, err
	}
	var inputs []Input
	for _, match := range matches {
		found, err := inputsUnder(ctx, fsys, match, recursive, nil)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, found...)
	}
	slices.SortStableFunc(inputs, func(a, b Input) int { return cmp.Compare(a.Path, b.Path) })
	return inputs, nil
}

// inputMatches returns the files and directories that a pattern names.
func inputMatches(ctx context.Context, fsys FS, name string) ([]FileInfo, error) {
	if !HasGlob(name) {
		info, err := fsys.Stat(ctx, name)
		if missing(err) {
			return nil, fmt.Errorf("Input path does not exist: %s%w", Name(fsys, name), silent{fs.ErrNotExist}) //nolint:staticcheck // Hadoop's wording
		}
		return []FileInfo{info}, err
	}
	matches, err := Glob(ctx, fsys, name)
	if err != nil {
		return nil, err
	}
	matches = slices.DeleteFunc(matches, func(info FileInfo) bool {
		base := path.Base(info.Path)
		return hidden(base) && path.Base(name)[0] != base[0]
	})
	if len(matches) == 0 {
		return nil, fmt.Errorf("Input Pattern %s matches 0 files%w", Name(fsys, name), silent{fs.ErrNotExist}) //nolint:staticcheck // Hadoop's wording
	}
	return matches, nil
}

// inputsUnder returns the file itself, or the files of the directory. above are the directories
// that contain it: a link to one of them would give its files many times.
func inputsUnder(ctx context.Context, fsys FS, info FileInfo, recursive bool, above []Identity) ([]Input, error) {
	if !info.IsDir {
		if err := CheckRegular(ctx, fsys, info); err != nil {
			return nil, fmt.Errorf("input %w", err)
		}
		return []Input{{FileInfo: info, FS: fsys, Name: Name(fsys, info.Path)}}, nil
	}
	id, err := Identify(ctx, fsys, info.Path)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(above, id.Same) {
		return nil, fmt.Errorf("%s is a link to a directory that contains it: its files would be read again and again; remove the link, or name the inputs without it", Name(fsys, info.Path))
	}
	children, err := fsys.List(ctx, info.Path)
	if err != nil {
		return nil, err
	}
	var inputs []Input
	for _, child := range children {
		if hidden(path.Base(child.Path)) {
			continue
		}
		if child.IsDir && !recursive {
			return nil, fmt.Errorf("Not a file: %s: to read directories within the input set mapreduce.input.fileinputformat.input.dir.recursive=true", //nolint:staticcheck // Hadoop's wording
				Name(fsys, child.Path))
		}
		found, err := inputsUnder(ctx, fsys, child, recursive, append(above, id))
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, found...)
	}
	return inputs, nil
}

// hidden reports whether FileInputFormat's hiddenFileFilter excludes a name: _SUCCESS,
// _temporary, .crc files and the like.
func hidden(base string) bool { return strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".") }

// TemporaryName is the directory in a job's output directory that has the files of its
// attempts, as in Hadoop.
const TemporaryName = "_temporary"

// CheckOutput returns an error that wraps fs.ErrExist, in Hadoop's wording, if the output
// directory exists. Name is the full name of the directory. A directory that contains only an
// empty TemporaryName is accepted: a job whose clean-up was interrupted left it.
func CheckOutput(ctx context.Context, fsys FS, dir, name string) error {
	info, err := fsys.Stat(ctx, dir)
	if err == nil {
		unused := false
		if info.IsDir {
			unused, err = hasOnlyTemporary(ctx, fsys, dir)
		}
		if err == nil && !unused {
			return fmt.Errorf("Output directory %s already exists%w", name, silent{fs.ErrExist}) //nolint:staticcheck // Hadoop's wording
		}
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("output directory %s: %w", name, err)
}

// hasOnlyTemporary reports whether dir is a directory whose only entry is an empty
// TemporaryName.
func hasOnlyTemporary(ctx context.Context, fsys FS, dir string) (bool, error) {
	if info, err := fsys.Stat(ctx, path.Join(dir, TemporaryName)); err != nil || !info.IsDir {
		return false, ignoreMissing(err)
	}
	entries, err := fsys.List(ctx, dir)
	if err != nil || len(entries) != 1 {
		return false, err
	}
	pieces, err := fsys.List(ctx, entries[0].Path)
	return err == nil && len(pieces) == 0, ignoreMissing(err)
}

// ignoreMissing returns nil for fs.ErrNotExist.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// silent wraps an error without adding its text to a message that is already complete:
// Hadoop's text says the same in its own words.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }
