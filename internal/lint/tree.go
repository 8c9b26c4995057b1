package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// source is one parsed file.
type source struct {
	path string // slash-separated, from the module's root
	text []byte
	// Positions of this file alone: each has its own set.
	files  *token.FileSet
	syntax *ast.File
}

func (s source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

// packageName returns the directory of the file, as the import table names it.
func (s source) packageName() string { return path.Dir(s.path) }

func (s source) line(pos token.Pos) int { return s.files.Position(pos).Line }

// at returns "file:line" of a node, as editors understand it.
func (s source) at(n ast.Node) string { return fmt.Sprintf("%s:%d", s.path, s.line(n.Pos())) }

// parse parses a file with its comments. Objects are not resolved: no rule needs more than
// syntax, and so a file need not compile.
func parse(path string, text []byte) (source, error) {
	files := token.NewFileSet()
	syntax, err := parser.ParseFile(files, path, text, parser.ParseComments|parser.SkipObjectResolution)
	return source{path, text, files, syntax}, err
}

// unquoted returns the text of a string literal; ok is false for any other node. Import paths and
// tags of fields are string literals too.
func unquoted(n ast.Node) (text string, ok bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// walk visits the files below root with an extension, by their paths from there, whatever
// their build tags. It skips nested modules, testdata and hidden directories. The first error
// ends it.
func walk(root, extension string, visit func(path string, text []byte) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		// root itself may be ".." or have any name.
		case d.IsDir() && path != root && isForeign(path, d.Name()):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != extension:
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		path, err = filepath.Rel(root, path)
		return errors.Join(err, visit(filepath.ToSlash(path), text))
	})
}

// sources parses every Go file below root, whatever its build tags.
func sources(root string) (all []source, err error) {
	err = walk(root, ".go", func(path string, text []byte) error {
		s, err := parse(path, text)
		all = append(all, s)
		return err
	})
	return all, err
}

// documents returns the pages of documentation below root, by path.
func documents(root string) (map[string]string, error) {
	pages := make(map[string]string)
	return pages, walk(root, ".md", func(path string, text []byte) error {
		pages[path] = string(text)
		return nil
	})
}

// isForeign reports whether a directory is not part of the module: data of tests, hidden, or
// the root of another module.
func isForeign(dir, name string) bool {
	if name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// packages lists the packages of the module at root, with their direct and indirect imports. A
// package that does not load is listed with its error, which TestPackages reports.
func packages(root string) ([]pkg, error) {
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Imports,Deps,Doc,GoFiles,Error", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []pkg
	// go list writes one object after the other, not an array.
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("output of go list: %w", err)
		}
		all = append(all, p)
	}
}
