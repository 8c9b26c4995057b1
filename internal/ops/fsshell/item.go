package fsshell

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/hammr/hammr/internal/kit/pattern"
	"github.com/hammr/hammr/storage"
)

// item is a path from the command line, or a path below one.
type item struct {
	name string // name as printed
	fs   storage.FS
	path string
	info *storage.FileInfo // nil if it does not exist
}

// exists reports whether the path was there when it was looked at.
func (it item) exists() bool { return it.info != nil }
func (it item) isDir() bool  { return it.info != nil && it.info.IsDir }
func (it item) base() string { return path.Base(it.path) }

// below returns an entry of a directory. Its name begins with the directory as the user
// typed it, so that listings of relative paths are relative; entries of "." have no prefix.
func (it item) below(base string) item {
	name := it.name + "/" + base
	// Entries of the working directory are printed without "./".
	if it.name == "." {
		name = base
	} else if strings.HasSuffix(it.name, "/") {
		name = it.name + base
	}
	return item{name: name, fs: it.fs, path: path.Join(it.path, base)}
}

// children returns the entries of a directory with their status, in one call, sorted by name.
func (s *shell) children(dir item) ([]item, error) {
	infos, err := dir.fs.List(s.ctx, dir.path)
	if err != nil {
		return nil, err
	}
	items := make([]item, len(infos))
	for i := range infos {
		items[i] = dir.below(path.Base(infos[i].Path))
		items[i].info = &infos[i]
	}
	return items, nil
}

// look gets the status of an item. An item that does not exist is no error: its info is nil.
func (s *shell) look(it item) (item, error) {
	info, err := it.fs.Stat(s.ctx, it.path)
	switch {
	case err == nil:
		it.info = &info
	// Not an error here: the caller decides whether the item must exist.
	case errors.Is(err, fs.ErrNotExist):
		it.info, err = nil, nil
	}
	return it, err
}

// parentExists reports whether an item can be created: whether its parent is there.
func (s *shell) parentExists(it item) (bool, error) {
	parent, err := s.look(item{fs: it.fs, path: path.Dir(it.path)})
	return parent.exists(), err
}

// expandAll expands arguments in order, and reports those that fail, such as a pattern without
// matches; the others are processed.
func (s *shell) expandAll(args []string) []item {
	var all []item
	for _, arg := range args {
		items, err := s.expand(arg)
		if err != nil {
			s.report(err)
		}
		all = append(all, items...)
	}
	return all
}

// escape is an escaped character of a pattern.
var escape = pattern.New(`\\(.)`)

// expand expands a glob. A name without wildcards is an item even if it does not exist, since
// some commands create it; a pattern must match.
func (s *shell) expand(arg string) ([]item, error) {
	fsys, full, err := s.Router.Resolve(s.ctx, arg)
	if err != nil {
		return nil, err
	}
	// A name without a pattern is a glob of one match, or none.
	infos, err := storage.Glob(s.ctx, fsys, full)
	switch {
	case err != nil:
		return nil, toPathError(item{name: arg}, err)
	case len(infos) > 0:
	default:
		return s.missing(arg, fsys, full)
	}
	// Matches are full paths; users want them as they typed the pattern.
	show, err := s.displayName(arg, fsys)
	if err != nil {
		return nil, err
	}
	items := make([]item, len(infos))
	for i := range infos {
		items[i] = item{name: show(infos[i].Path), fs: fsys, path: infos[i].Path, info: &infos[i]}
	}
	return items, nil
}

// missing returns the item of an argument that matches nothing. If it is a pattern, there is none.
func (s *shell) missing(arg string, fsys storage.FS, full string) ([]item, error) {
	pattern, err := storage.CompilePattern(full)
	if err != nil {
		return nil, toPathError(item{name: arg}, err)
	}
	name, ok := pattern.Literal()
	if !ok {
		return nil, notFound(arg)
	}
	return []item{{name: escape().ReplaceAllString(arg, "$1"), fs: fsys, path: name}}, nil
}

// displayName returns a function that formats a match of the pattern: with a scheme,
// absolute or relative, as the pattern. Matches of "hdfs://host/a*" have the host; matches
// of "hdfs:///a*" have none.
func (s *shell) displayName(pattern string, fsys storage.FS) (func(string) string, error) {
	scheme, rest, full := strings.Cut(pattern, ":/")
	switch {
	// A colon and a slash in a local name, as in a/b:/c, is no scheme.
	case full && !strings.Contains(scheme, "/"):
		// "hdfs:///a*" has no authority: its matches are printed without one.
		prefix := scheme + "://"
		if strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, "//") {
			prefix = fsys.URI() // the pattern has an authority
		}
		return func(p string) string { return prefix + p }, nil
	case path.IsAbs(pattern):
		return func(p string) string { return p }, nil
	}
	_, home, err := s.Router.Resolve(s.ctx, ".")
	return func(p string) string { return relative(home, p) }, err
}

// relative returns a path relative to the working directory, or the path itself if there is
// none.
func relative(home, p string) string {
	// The match is on the same file system as the working directory: the pattern had no
	// scheme.
	rel, err := filepath.Rel(home, p)
	if err != nil {
		return p
	}
	return rel
}

// localItem returns a file of this machine, whatever the default file system: the local side of
// -put and -get. It is not a glob, since the user's own shell has expanded it. The scheme
// file: is dropped.
func (s *shell) localItem(arg string) (item, error) {
	name := arg
	if path, ok := strings.CutPrefix(arg, "file:"); ok {
		name = "/" + strings.TrimLeft(path, "/")
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return item{}, err
	}
	fsys, full, err := s.Router.Resolve(s.ctx, "file://"+abs)
	if err != nil {
		return item{}, err
	}
	it, err := s.look(item{name: arg, fs: fsys, path: full})
	return it, err
}
