package fsshell

import (
	"io"
	"slices"

	"github.com/hammr/hammr/storage"
)

// Options and synopses that two names of a command share.
const (
	putFlags = "f d"
	putUsage = "[-f] [-d] <localsrc> ... <dst>"
	getFlags = "f crc ignoreCrc"
	getUsage = "[-f] [-crc] [-ignoreCrc] <src> ... <localdst>"

	// copySuffix is added to the name of a file until it is complete.
	copySuffix = "._COPYING_"
)

// transfer is a running -put, -get, -cp or -mv. All have the same rules for the destination,
// in checkTarget and targetOf. They differ in move, which processes one source.
type transfer struct {
	*shell
	// The destination before the first source: a directory, a file, or a free name.
	dst item
	// Whether a file that exists may be replaced: -f.
	overwrite bool
	direct    bool // no temporary file
	// Directories that are being copied, the outermost first.
	walk []storage.Identity
	// move copies or moves one source.
	move func(src, target item) error
}

// put copies local files to the destination. The only source "-" is standard input. A source
// that does not exist is reported, and the others are copied.
func put(s *shell, in invocation) error {
	sources, dst := splitTarget(in.args)
	t, err := s.transferTo(in, dst)
	if err != nil {
		return err
	}
	// With other sources "-" is the name of a file, as in Hadoop.
	if len(sources) == 1 && sources[0] == "-" {
		return t.fromStdin()
	}
	var items []item
	for _, source := range sources {
		it, err := s.localItem(source)
		if err != nil {
			s.report(err)
			continue
		}
		items = append(items, it)
	}
	return t.transferAll(items)
}

// get copies to the local file system. The options -crc and -ignoreCrc are accepted and have
// no effect.
func get(s *shell, in invocation) error {
	sources, dst := splitTarget(in.args)
	target, err := s.localItem(dst)
	if err != nil {
		return err
	}
	t := s.newTransfer(in, target)
	return t.transferAll(s.expandAll(sources))
}

// cp copies between any two file systems, through this process.
func cp(s *shell, in invocation) error {
	sources, dst := splitTarget(in.args)
	t, err := s.transferTo(in, dst)
	if err != nil {
		return err
	}
	return t.transferAll(s.expandAll(sources))
}

// splitTarget separates the destination from the sources; with a single argument it is the
// working directory, as in `hadoop fs -get x`.
func splitTarget(args []string) (sources []string, dst string) {
	if len(args) < 2 {
		return args, "."
	}
	return args[:len(args)-1], args[len(args)-1]
}

// newTransfer makes a transfer that copies. mv replaces its move.
func (s *shell) newTransfer(in invocation, dst item) *transfer {
	t := &transfer{shell: s, dst: dst, overwrite: in.has("f"), direct: in.has("d")}
	t.move = t.copy
	return t
}

// transferTo makes a transfer to a path, which may be a glob with one match. With more matches
// it would be unclear where to write, so nothing is copied.
func (s *shell) transferTo(in invocation, dst string) (*transfer, error) {
	found, err := s.expand(dst)
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		return nil, &pathError{path: dst, message: "Too many matches"}
	}
	return s.newTransfer(in, found[0]), nil
}

// transferAll moves the sources. Several sources need a directory as destination; one source
// needs a free name, or a directory. It reports a source that fails and continues with the
// next.
func (t *transfer) transferAll(sources []item) error {
	if err := t.checkTarget(len(sources)); err != nil {
		return err
	}
	t.each(sources, func(src item) error {
		target, err := t.targetOf(src, t.dst)
		if err == nil {
			_, err = t.checkNesting(src, target)
		}
		if err != nil {
			return err
		}
		return t.move(src, target)
	})
	return nil
}

// checkTarget refuses a destination before the first source is read. Several sources need a
// directory that exists; a file that exists needs -f; a new name needs a parent.
func (t *transfer) checkTarget(sources int) error {
	switch dst := t.dst; {
	// Hadoop checks in this order, so the messages are the same.
	case sources > 1 && !dst.exists():
		return notFound(dst.name)
	// A second source would replace the first.
	case sources > 1 && !dst.isDir():
		return isNotDirectory(dst.name)
	// Refused before anything is read: a source may be large.
	case dst.exists() && !dst.isDir() && !t.overwrite:
		return fileExists(dst.name)
	case dst.exists():
		return nil
	}
	ok, err := t.parentExists(t.dst)
	if err == nil && !ok {
		err = noParent(t.dst)
	}
	return err
}

// targetOf returns the destination of a source: in a directory under the source's own name, else
// the name itself.
func (t *transfer) targetOf(src, dst item) (item, error) {
	if !dst.isDir() {
		return dst, nil
	}
	return t.look(dst.below(src.base()))
}

// checkNesting refuses to write something to itself, and to put a directory below itself: the copy would grow
// while it is read, without an end. It compares the files, not their names. It returns the identity of the source.
func (t *transfer) checkNesting(src, target item) (storage.Identity, error) {
	from, err := storage.Identify(t.ctx, src.fs, src.path)
	if err != nil {
		return from, err
	}
	to, err := storage.Identify(t.ctx, target.fs, target.path)
	switch {
	case err != nil:
	// The target would be removed before it is read.
	case from.Same(to):
		err = &pathError{path: src.name, target: target.name, message: "are identical"}
	case src.isDir() && from.Contains(to):
		err = &pathError{path: src.name, target: target.name, message: "is a subdirectory of itself"}
	}
	return from, err
}

// enter checks a directory before its content is copied, since a link in a tree may lead anywhere: to the target,
// or to a directory that is being copied. leave ends the copy of the directory.
func (t *transfer) enter(src, target item) (leave func(), err error) {
	if len(t.walk) > 0 && !t.walk[0].HasLinks() {
		return func() {}, nil
	}
	id, err := t.checkNesting(src, target)
	if err == nil && slices.ContainsFunc(t.walk, id.Same) {
		err = &pathError{path: src.name, message: "is a link to a directory that contains it"}
	}
	if err != nil {
		return nil, err
	}
	t.walk = append(t.walk, id)
	return func() { t.walk = t.walk[:len(t.walk)-1] }, nil
}

// copy copies a file or a tree.
func (t *transfer) copy(src, target item) error {
	if src.isDir() {
		return t.copyTree(src, target)
	}
	return t.copyFile(src, target)
}

// copyTree copies the content of a directory. It reports failures, copies the rest of the
// tree, and the exit code is 1. It fills in directories that exist at the destination; files
// that exist need -f.
func (t *transfer) copyTree(src, target item) error {
	// A file in place of a directory is never replaced, not even with -f.
	if target.exists() && !target.isDir() {
		return isNotDirectory(target.name)
	}
	leave, err := t.enter(src, target)
	if err != nil {
		return err
	}
	defer leave()
	// The directory is created before its children, and also if it has none.
	if err := target.fs.MkdirAll(t.ctx, target.path); err != nil {
		return err
	}
	children, err := t.children(src)
	if err != nil {
		return err
	}
	t.each(children, func(child item) error {
		to, err := t.look(target.below(child.base()))
		if err != nil {
			return err
		}
		return t.copy(child, to)
	})
	return nil
}

// copyFile copies one file; the target has the replication and block size of the
// configuration, not the source's.
func (t *transfer) copyFile(src, target item) error {
	file, err := t.open(src)
	if err != nil {
		return err
	}
	defer file.Close()
	return t.write(file, target)
}

// fromStdin writes standard input to the destination, which is a file.
func (t *transfer) fromStdin() error {
	if err := t.checkTarget(1); err != nil {
		return err
	}
	return t.write(t.Stdin, t.dst)
}

// write creates the target from a stream. The target has a temporary name until it is
// complete, so that no reader takes a part for the whole; -d writes it in place. write
// replaces a temporary file of an earlier copy that was interrupted.
func (t *transfer) write(from io.Reader, target item) error {
	// This check is for files within trees: checkTarget has seen only the destination
	// itself.
	if target.isDir() || target.exists() && !t.overwrite {
		return fileExists(target.name)
	}
	name := target.path
	if !t.direct {
		name += copySuffix
	}
	// Remove of a name that does not exist is no error.
	if err := target.fs.Remove(t.ctx, name, false); err != nil {
		return err
	}
	// Without -d the complete file still has its temporary name.
	if err := t.writeFile(from, target.fs, name); err != nil || t.direct {
		return err
	}
	return t.rename(target, name)
}

// writeFile creates a file, or none if it fails: Abort removes what was written. Close counts
// as writing, since HDFS reports the last block's errors there.
func (t *transfer) writeFile(from io.Reader, fsys storage.FS, name string) error {
	out, err := fsys.Create(t.ctx, name, t.CreateOptions)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, from); err == nil {
		err = out.Close()
	}
	if err != nil {
		out.Abort()
	}
	return err
}

// rename gives a complete file its name. It first removes a target that exists, because
// Rename does not replace files. For a moment neither file exists, as with Hadoop's shell.
func (t *transfer) rename(target item, from string) error {
	var err error
	if target.exists() {
		err = target.fs.Remove(t.ctx, target.path, false)
	}
	if err == nil {
		err = target.fs.Rename(t.ctx, from, target.path)
	}
	return err
}

// mv renames. It never copies: source and destination must be on one file system.
func mv(s *shell, in invocation) error {
	sources, dst := splitTarget(in.args)
	t, err := s.transferTo(in, dst)
	if err != nil {
		return err
	}
	t.move = t.renameTo
	return t.transferAll(s.expandAll(sources))
}

// renameTo renames one source; a target that exists is never replaced.
func (t *transfer) renameTo(src, target item) error {
	from, err := storage.Identify(t.ctx, src.fs, "/")
	if err != nil {
		return err
	}
	to, err := storage.Identify(t.ctx, target.fs, "/")
	switch {
	case err != nil:
		return err
	// Hadoop refuses this too; -cp and -rm do it in two steps.
	case !from.OnSystemOf(to):
		return &pathError{path: src.name, message: "Does not match target filesystem"}
	case target.exists():
		return fileExists(target.name)
	}
	return src.fs.Rename(t.ctx, src.path, target.path)
}
