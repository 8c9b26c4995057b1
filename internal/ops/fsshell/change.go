package fsshell

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"syscall"

	"github.com/hammr/hammr/storage"
)

// mkdir creates directories. One that exists is an error without -p.
func mkdir(s *shell, in invocation) error {
	for _, it := range s.expandAll(in.args) {
		if err := s.mkdirOne(it, in.has("p")); err != nil {
			s.report(err)
		}
	}
	return nil
}

// mkdirOne creates one directory. MkdirAll always creates parents, so without -p mkdirOne
// must first reject a missing parent, as Hadoop does.
func (s *shell) mkdirOne(it item, parents bool) error {
	switch {
	case it.exists() && !it.isDir():
		return isNotDirectory(it.name)
	// With -p an existing directory is a success.
	case it.exists() && parents:
		return nil
	case it.exists():
		return fileExists(it.name)
	}
	if err := s.checkParent(it, parents); err != nil {
		return err
	}
	return toPathError(it, it.fs.MkdirAll(s.ctx, it.path))
}

// checkParent rejects a directory below a file. Unless parents is set it also rejects a
// directory without a parent. It searches upwards until a path exists, because a file may be
// anywhere above. Hadoop's message names the parent.
func (s *shell) checkParent(it item, parents bool) error {
	for dir := path.Dir(it.path); ; dir = path.Dir(dir) {
		above, err := s.look(item{name: storage.Name(it.fs, dir), fs: it.fs, path: dir})
		switch {
		// Stat below a file is an error of its own on local file systems.
		case errors.Is(err, syscall.ENOTDIR):
			continue // a file is further up
		case err != nil:
			return err
		case above.isDir():
			return nil
		case above.exists():
			return &pathError{message: "Parent path is not a directory: " + above.name}
		// MkdirAll would create it silently.
		case !parents:
			return notFound(above.name)
		// Not even the root exists: the file system is new, and creates it.
		case dir == "/":
			return nil
		}
	}
}

// rm deletes everything that matches. With -f, a missing name or a pattern without matches
// is no failure. -skipTrash and -safely are accepted: there is no trash. Arguments are
// processed in order, so an earlier one is deleted even if a later one fails.
func rm(s *shell, in invocation) error {
	dirs := in.has("r") || in.has("R")
	for _, arg := range in.args {
		items, err := s.expand(arg)
		// expand returns one item that does not exist, or only items that do.
		if in.has("f") && (errors.Is(err, fs.ErrNotExist) || err == nil && !items[0].exists()) {
			continue
		}
		if err != nil {
			s.report(err)
			continue
		}
		s.each(items, func(it item) error { return s.remove(it, dirs) })
	}
	return nil
}

// remove deletes one file, or one tree if dirs is set. It rejects the root whatever the
// options.
func (s *shell) remove(it item, dirs bool) error {
	switch {
	case it.isDir() && !dirs:
		return isDirectory(it.name)
	// The check also applies to -r -f: an empty variable in a script must not delete
	// everything.
	case it.path == "/":
		return &pathError{path: it.name, message: "The root directory cannot be deleted"}
	}
	if err := it.fs.Remove(s.ctx, it.path, dirs); err != nil {
		return err
	}
	s.printf("Deleted %s\n", it.name)
	return nil
}

// rmdir removes a directory that is empty. The check and the removal are two calls; Remove
// without recursion fails if a file comes in between.
func rmdir(s *shell, in invocation, it item) error {
	if !it.isDir() {
		return isNotDirectory(it.name)
	}
	children, err := s.children(it)
	if err != nil {
		return err
	}
	// Remove refuses a directory that has entries, should one appear now.
	if len(children) == 0 {
		return it.fs.Remove(s.ctx, it.path, false)
	}
	// The option has two dashes: parse has removed one.
	if in.has("-ignore-fail-on-non-empty") {
		return nil
	}
	return &pathError{path: it.name, message: "Directory is not empty"}
}

// touchz creates files of zero length. It uses expandAll without each, because the files
// need not exist.
func touchz(s *shell, in invocation) error {
	for _, it := range s.expandAll(in.args) {
		if err := s.touchOne(it); err != nil {
			s.report(toPathError(it, err))
		}
	}
	return nil
}

// touchOne creates one file, or replaces an empty one, which changes its time of modification.
func (s *shell) touchOne(it item) error {
	switch {
	case it.isDir():
		return isDirectory(it.name)
	// touchz never shortens a file.
	case it.exists() && it.info.Size > 0:
		return &pathError{path: it.name, message: "Not a zero-length file"}
	case it.exists():
		if err := it.fs.Remove(s.ctx, it.path, false); err != nil {
			return err
		}
	default:
		if ok, err := s.parentExists(it); err != nil || !ok {
			return cmp.Or(err, noParent(it))
		}
	}
	out, err := it.fs.Create(s.ctx, it.path, s.CreateOptions)
	if err != nil {
		return err
	}
	return out.Close()
}
