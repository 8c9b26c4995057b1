package storage

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"syscall"
)

// Glob returns the files and directories whose paths match a pattern (see Pattern), sorted
// by path and without duplicates. No match is not an error. It lists only the directories
// that contain a component with a wildcard.
// It follows FileSystem.globStatus of Hadoop, but does not distinguish a missing path from a
// pattern without a match.
func Glob(ctx context.Context, fsys FS, pattern string) ([]FileInfo, error) {
	p, err := CompilePattern(pattern)
	if err != nil {
		return nil, err
	}
	var found []FileInfo
	for _, components := range p.alternatives {
		infos, err := globFrom(ctx, fsys, "/", components)
		if err != nil {
			return nil, err
		}
		found = append(found, infos...)
	}
	slices.SortFunc(found, func(a, b FileInfo) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(found, func(a, b FileInfo) bool { return a.Path == b.Path }), nil
}

// globFrom matches components below dir, which may not exist. First it descends through
// components without wildcards. It does not list their parents, which may be large or
// unreadable.
func globFrom(ctx context.Context, fsys FS, dir string, components []component) ([]FileInfo, error) {
	for len(components) > 0 && components[0].tokens == nil {
		dir = path.Join(dir, components[0].literal)
		components = components[1:]
	}
	info, err := fsys.Stat(ctx, dir)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(components) == 0 {
		return []FileInfo{info}, nil
	}
	if !info.IsDir {
		return nil, nil
	}
	return globIn(ctx, fsys, dir, components)
}

// globIn matches the first component, which has a wildcard, against the entries of dir. It
// matches the other components below each match.
func globIn(ctx context.Context, fsys FS, dir string, components []component) ([]FileInfo, error) {
	children, err := fsys.List(ctx, dir)
	if err != nil && !missing(err) {
		return nil, err
	}
	var found []FileInfo
	for _, child := range children {
		if !components[0].match(path.Base(child.Path)) {
			continue
		}
		if len(components) == 1 {
			found = append(found, child)
			continue
		}
		if !child.IsDir {
			continue
		}
		below, err := globFrom(ctx, fsys, child.Path, components[1:])
		if err != nil {
			return nil, err
		}
		found = append(found, below...)
	}
	return found, nil
}

// missing reports whether an error means that the path does not exist. This includes a path
// with a file as one of its parents.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
