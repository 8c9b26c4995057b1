package scaffold

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/hammr/hammr/internal/kit/pattern"
)

// findSource returns a source tree of Hammr that a module in dir can use: the one around the
// current directory, the one around dir, or the one that this binary was built from; "" if
// there is none. A user who works in a tree wants programs that use it, so that comes first.
func findSource(dir string) string {
	// A developer of Hammr works in the tree.
	if here, err := os.Getwd(); err == nil {
		if tree := treeAround(here); tree != "" {
			return tree
		}
	}
	if tree := treeAround(dir); tree != "" {
		return tree
	}
	return buildTree()
}

// treeAround returns the nearest directory at or above dir whose go.mod is Hammr's.
func treeAround(dir string) string {
	for {
		if isTree(dir) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

var ownModule = pattern.New(`(?m)^module\s+"?` + regexp.QuoteMeta(modulePath) + `"?\s*$`)

// isTree reports whether a directory is the root of Hammr's source.
func isTree(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && ownModule().Match(data)
}

// checkSource returns the absolute path of a source tree that the user has named. The replacement
// in go.mod needs it absolute: the module may be anywhere.
func checkSource(dir string) (string, error) {
	tree, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("source tree of hammr: %w", err)
	}
	if !isTree(tree) {
		return "", fmt.Errorf("source tree of hammr: %s has no go.mod of %s", dir, modulePath)
	}
	return tree, nil
}

// buildTree returns the tree that this binary was built from, if it still exists: the compiler has
// recorded the name of this file. With -trimpath there is no such name. A tree in the module
// cache is not used: its version can be required.
func buildTree() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) || strings.Contains(file, modulePath+"@") {
		return ""
	}
	return treeAround(filepath.Dir(file))
}

// ownVersion returns the released version of Hammr in this binary. A binary of a work tree
// has none, so a module could not require it.
func ownVersion() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if ok {
		if v, ok := versionOf(info); ok {
			return v, nil
		}
	}
	return "", errors.New("no version of hammr to require: this binary is no release, and no source tree was found; " +
		"name one with --source")
}

// released is a version of this module that a proxy can serve.
var released = pattern.New(`^v[01]\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// versionOf returns the version of Hammr in a binary: of the main module in hammr itself, of a
// dependency in any other program. ok is false for a version that no proxy serves: a build of
// a work tree has (devel) or a suffix with a plus sign.
func versionOf(info *debug.BuildInfo) (string, bool) {
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == modulePath && m.Replace == nil {
			return m.Version, released().MatchString(m.Version)
		}
	}
	return "", false
}
