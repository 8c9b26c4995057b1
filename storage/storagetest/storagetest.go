// Package storagetest checks an implementation of storage.FS against its contract. The test
// of a file system calls Run with a function that sets one up:
//
//	func TestConformance(t *testing.T) {
//		storagetest.Run(t, func(t testing.TB) (storage.FS, string) {
//			return local.New(local.Options{}), t.TempDir()
//		})
//	}
package storagetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/hammr/hammr/storage"
)

// Setup returns a file system and an existing, empty directory in it for the test alone. It
// registers its clean-up with t.Cleanup. It is called once for each rule, so rules do not see
// each other's files, even if they share one file system.
type Setup func(t testing.TB) (fsys storage.FS, dir string)

// Run checks each rule of the contract of storage.FS in a subtest with a directory of its
// own. A rule that a file system may leave out, such as Concat, is checked only if it is
// implemented.
//
//	TestConformance/write_and_read
//	TestConformance/rename_refuses
//	…
//
// Each method of suite checks one rule. Its comment explains why a job relies on the rule.
func Run(t *testing.T, setup Setup) {
	for _, c := range []struct {
		name string
		test func(suite)
	}{
		{"write and read", suite.writeAndRead},
		{"read at", suite.readAt},
		{"seek", suite.seek},
		{"open refuses", suite.openRefuses},
		{"create refuses", suite.createRefuses},
		{"create at once", suite.createAtOnce},
		{"private", suite.private},
		{"abort", suite.abort},
		{"stat", suite.stat},
		{"list", suite.list},
		{"mkdir", suite.mkdir},
		{"rename", suite.rename},
		{"rename refuses", suite.renameRefuses},
		{"remove", suite.remove},
		{"blocks", suite.blocks},
		{"concat", suite.concat},
		{"cancelled context", suite.cancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys, dir := setup(t)
			c.test(suite{t: t, fs: fsys, dir: dir})
		})
	}
}

// suite is one subtest. Its helpers fail the test, so that a rule reads as a list of calls.
type suite struct {
	t   *testing.T
	fs  storage.FS
	dir string
}

// path returns the full path of a name in the directory of the test. Names may have several
// components.
func (s suite) path(name string) string { return path.Join(s.dir, name) }

// Write creates a file with the given content in one call of Write. The test fails if any call
// does.
func Write(t testing.TB, fsys storage.FS, name string, data []byte) {
	t.Helper()
	w, err := fsys.Create(t.Context(), name, storage.CreateOptions{})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	if n, err := w.Write(data); err != nil || n != len(data) {
		t.Fatalf("write of %d bytes to %s: %d, %v", len(data), name, n, err)
	}
	if err := w.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// Read returns the content of a file. The test fails if it cannot be read, or if Close returns
// an error.
func Read(t testing.TB, fsys storage.FS, name string) []byte {
	t.Helper()
	f, err := fsys.Open(t.Context(), name)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	data, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatalf("read of %s: %v", name, err)
	}
	return data
}

// Exists reports whether a file or a directory of that name exists. Any error except a
// missing file fails the test.
func Exists(t testing.TB, fsys storage.FS, name string) bool {
	t.Helper()
	_, err := fsys.Stat(t.Context(), name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("stat: %v", err)
	}
	return err == nil
}

// Pattern returns n bytes whose values depend on their positions, so that a test detects a
// byte in the wrong place. The pattern repeats only after 16 MiB.
func Pattern(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return data
}

// write creates a file in the directory of the test.
func (s suite) write(name string, data []byte) { s.t.Helper(); Write(s.t, s.fs, s.path(name), data) }

// wantData checks the content of a file. It shows lengths only, since contents may be long.
func (s suite) wantData(name string, want []byte) {
	s.t.Helper()
	if got := Read(s.t, s.fs, s.path(name)); !bytes.Equal(got, want) {
		s.t.Errorf("%s holds %d bytes, other than the %d written", name, len(got), len(want))
	}
}

// wantMissing checks that a path does not exist, neither as a file nor as a directory.
func (s suite) wantMissing(name string) {
	s.t.Helper()
	if Exists(s.t, s.fs, s.path(name)) {
		s.t.Errorf("%s exists", name)
	}
}

// wantErr checks that err names the path and wraps kind, or is any error if kind is nil. The
// name matters to users: an error of a job with thousands of files must say which one.
func (s suite) wantErr(err, kind error, name string) {
	s.t.Helper()
	switch {
	case err == nil:
		s.t.Errorf("no error for %s", name)
	case kind != nil && !errors.Is(err, kind):
		s.t.Errorf("error %q does not wrap %q", err, kind)
	case !strings.Contains(err.Error(), s.path(name)):
		s.t.Errorf("error %q does not name %s", err, s.path(name))
	}
}

// must ends the subtest at an error. It is for calls that prepare a rule; the rule itself
// checks its errors.
func (s suite) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// ctx returns a context that is cancelled when the subtest ends, so a call that waits for it
// ends too.
func (s suite) ctx() context.Context { return s.t.Context() }
