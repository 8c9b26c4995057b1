package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/hammr/hammr/internal/kit/pattern"
)

// modulePath is where programs import Hammr from.
const modulePath = "github.com/hammr/hammr"

// Config says what to write.
type Config struct {
	// Dir is the directory of the new module. It is created if it does not exist, and
	// refused if it is not empty. Required.
	Dir string
	// Module is the path of the new module. Default the last element of Dir in lower case,
	// with a dash for characters that a path cannot have.
	Module string
	// Source is the source tree of Hammr that the module uses. Default as described at the
	// package.
	Source string
	// Policies is for a scheduling policy in place of a program: the names of the known policies, of which it
	// must have none. Default nil: a program.
	Policies []string
}

// Project describes the files that New wrote.
type Project struct {
	Module  string
	Name    string   // of the program: the last element of Module
	Source  string   // the source tree that the module uses, "" for none
	Version string   // the version that the module requires if Source is ""
	Files   []string // names within the directory, in order

	policy bool // the module has a scheduling policy, which has the name Name
}

//go:embed template
var templates embed.FS

// file is a file to write, with its template.
type file struct{ name, template string }

// programFiles are what New writes for a program in addition to go.mod and go.sum.
var programFiles = []file{
	{".gitignore", "gitignore.tmpl"},
	{"README.md", "README.md.tmpl"},
	{"main.go", "main.go.tmpl"},
	{"main_test.go", "main_test.go.tmpl"},
}

// policyFiles are what New writes for a scheduling policy. Programs of other modules import its package.
var policyFiles = []file{
	{".gitignore", "gitignore.tmpl"},
	{"README.md", "policy_README.md.tmpl"},
	{"main.go", "policy_main.go.tmpl"},
	{policyDir + "/policy.go", "policy.go.tmpl"},
	{policyDir + "/policy_test.go", "policy_test.go.tmpl"},
}

// policyDir is the directory of the policy's package.
const policyDir = "policy"

// New writes a program or a policy. If it fails, it removes what it has written. Everything is planned and
// filled in before the first file is written, so that most mistakes leave no trace.
func New(cfg Config) (*Project, error) {
	p, err := plan(cfg)
	if err != nil {
		return nil, err
	}
	contents, err := p.contents()
	if err != nil {
		return nil, err
	}
	made, err := prepareDir(cfg.Dir)
	if err != nil {
		return nil, err
	}
	if err := p.write(cfg.Dir, contents); err != nil {
		return nil, errors.Join(err, p.removeFiles(cfg.Dir, made))
	}
	return p, nil
}

// plan chooses the names and the source of Hammr. If the user names a source, it must be a
// source tree. Otherwise plan takes the result of findSource, or the version of this binary.
func plan(cfg Config) (*Project, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("directory of the new program: %w", err)
	}
	p := &Project{Module: cfg.Module}
	if p.Module == "" {
		p.Module = moduleName(filepath.Base(dir))
	}
	if !validModule().MatchString(p.Module) {
		return nil, fmt.Errorf("name of the new module: %q is not an import path: use letters, digits and . _ ~ -, and slashes between elements", p.Module)
	}
	p.Name = p.Module[strings.LastIndexByte(p.Module, '/')+1:]
	if p.policy = cfg.Policies != nil; p.policy && (slices.Contains(cfg.Policies, p.Name) || !policyName().MatchString(p.Name)) {
		return nil, fmt.Errorf("name of the new policy: %q is in use (%s), or has other characters than a-z, 0-9 and . _ -: choose another directory or --module",
			p.Name, strings.Join(cfg.Policies, ", "))
	}
	if cfg.Source != "" {
		p.Source, err = checkSource(cfg.Source)
		return p, err
	}
	if p.Source = findSource(dir); p.Source == "" {
		p.Version, err = ownVersion()
	}
	return p, err
}

// validModule is an import path. An element begins and ends with no dot, and the path begins with no dash.
var validModule = pattern.New(`^[0-9A-Za-z_~]([0-9A-Za-z._~-]*[0-9A-Za-z_~-])?(/[0-9A-Za-z_~-]([0-9A-Za-z._~-]*[0-9A-Za-z_~-])?)*$`)

// policyName is what the last element of a module path must be to name a policy.
var policyName = pattern.New(`^[a-z0-9][a-z0-9._-]*$`)

var notInModule = pattern.New(`[^a-z0-9._-]+`)

// moduleName turns the name of a directory into a module path of one element: lower case, with
// a dash for characters that a path cannot have. "My Words" becomes my-words; a name with
// only such characters becomes program.
func moduleName(base string) string {
	name := strings.Trim(notInModule().ReplaceAllString(strings.ToLower(base), "-"), ".-_")
	if name == "" {
		return "program"
	}
	return name
}

// contents returns the files to write, by name: the templates filled in with the project, and the
// module's files. It writes nothing.
func (p *Project) contents() (map[string][]byte, error) {
	contents, err := p.moduleFiles()
	if err != nil {
		return nil, err
	}
	parsed, err := template.ParseFS(templates, "template/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("template of a program: %w", err)
	}
	files := programFiles
	if p.policy {
		files = policyFiles
	}
	for _, f := range files {
		var b bytes.Buffer
		if err := parsed.ExecuteTemplate(&b, f.template, p); err != nil {
			return nil, fmt.Errorf("template of %s: %w", f.name, err)
		}
		contents[f.name] = b.Bytes()
	}
	return contents, nil
}

// prepareDir makes sure that dir is an empty directory, because files of the user are never
// overwritten; made reports that it has created it, so that a failure removes it again.
func prepareDir(dir string) (made bool, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return false, fmt.Errorf("directory of the new program: %w", err)
		}
		return true, nil
	case err != nil:
		return false, fmt.Errorf("directory of the new program: %w", err)
	case len(entries) > 0:
		return false, fmt.Errorf("directory %s is not empty: %w; choose another, or remove it first", dir, fs.ErrExist)
	}
	return false, nil
}

// write writes the files in the order of their names, and notes each before it begins, so that
// removeFiles finds one that is half written.
func (p *Project) write(dir string, contents map[string][]byte) error {
	if p.policy {
		if err := os.Mkdir(filepath.Join(dir, policyDir), 0o755); err != nil {
			return fmt.Errorf("directory of the new policy: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		// Noted first, so that a file that is half written is removed.
		p.Files = append(p.Files, name)
		if err := os.WriteFile(filepath.Join(dir, name), contents[name], 0o644); err != nil {
			return fmt.Errorf("file of the new program: %w", err)
		}
	}
	return nil
}

// removeFiles removes the files that write has written, and the directory if New has created
// it. A directory that New has not created stays, empty as it was.
func (p *Project) removeFiles(dir string, made bool) error {
	var errs []error
	for _, name := range p.Files {
		if err := os.Remove(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if p.policy {
		errs = append(errs, os.Remove(filepath.Join(dir, policyDir)))
	}
	if made {
		errs = append(errs, os.Remove(dir))
	}
	return errors.Join(errs...)
}
