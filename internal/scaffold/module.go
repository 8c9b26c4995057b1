package scaffold

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// moduleFiles are go.mod and, for a module that uses a source tree, go.sum.
func (p *Project) moduleFiles() (map[string][]byte, error) {
	if p.Source == "" {
		data, err := p.goMod(nil)
		return map[string][]byte{"go.mod": data}, err
	}
	tree, err := readModule(filepath.Join(p.Source, "go.mod"))
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(filepath.Join(p.Source, "go.sum"))
	if err != nil {
		return nil, fmt.Errorf("source tree of hammr: %w", err)
	}
	data, err := p.goMod(tree)
	return map[string][]byte{"go.mod": data, "go.sum": sums}, err
}

func readModule(path string) (*modfile.File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("source tree of hammr: %w", err)
	}
	f, err := modfile.Parse(path, data, nil)
	if err != nil {
		return nil, fmt.Errorf("source tree of hammr: %w", err)
	}
	return f, nil
}

// goMod is the new module's go.mod. Of a tree it takes over what that requires
// and replaces, since replacements count in the main module only.
func (p *Project) goMod(tree *modfile.File) ([]byte, error) {
	f := new(modfile.File)
	if err := f.AddModuleStmt(p.Module); err != nil {
		return nil, fmt.Errorf("go.mod: %w", err)
	}
	language, version := goVersion(), p.Version
	var requires []*modfile.Require
	if tree != nil {
		version = "v0.0.0"
		requires = tree.Require
		if tree.Go != nil {
			language = tree.Go.Version
		}
	}
	if err := f.AddGoStmt(language); err != nil {
		return nil, fmt.Errorf("go.mod: %w", err)
	}
	f.AddNewRequire(modulePath, version, false)
	for _, r := range requires {
		f.AddNewRequire(r.Mod.Path, r.Mod.Version, true)
	}
	f.SetRequireSeparateIndirect(f.Require)
	if err := p.addReplaces(f, tree); err != nil {
		return nil, fmt.Errorf("go.mod: %w", err)
	}
	f.Cleanup()
	return f.Format()
}

func (p *Project) addReplaces(f, tree *modfile.File) error {
	if tree == nil {
		return nil
	}
	for _, r := range tree.Replace {
		if err := f.AddReplace(r.Old.Path, r.Old.Version, withinTree(p.Source, r.New), r.New.Version); err != nil {
			return err
		}
	}
	return f.AddReplace(modulePath, "", p.Source, "")
}

// withinTree is the path of a replacement as seen from outside its tree.
func withinTree(tree string, m module.Version) string {
	if m.Version != "" || filepath.IsAbs(m.Path) {
		return m.Path
	}
	return filepath.Join(tree, m.Path)
}

// goVersion is the language version of the toolchain that built this binary.
func goVersion() string {
	v, _, _ := strings.Cut(strings.TrimPrefix(runtime.Version(), "go"), " ")
	if !modfile.GoVersionRE.MatchString(v) {
		return "1.26"
	}
	return v
}
