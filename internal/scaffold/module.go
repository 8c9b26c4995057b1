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

// moduleFiles returns go.mod and, for a module that uses a source tree, go.sum. It copies
// the tree's go.sum, because that has every module that a program needs. Lines of other
// modules do no harm, and `go mod tidy` removes them.
func (p *Project) moduleFiles() (map[string][]byte, error) {
	if p.Source == "" {
		data, err := p.goMod(nil, nil)
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
	data, err := p.goMod(tree, sums)
	return map[string][]byte{"go.mod": data, "go.sum": sums}, err
}

// readModule parses the go.mod of a source tree.
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

// programModules are the modules that a program with its test needs of those that Hammr
// requires: what mr and mr/mrtest import, and what go mod tidy adds for their tests. With
// these alone `go mod tidy` changes nothing, and the new go.mod has half the lines of Hammr's.
// Each is in the go.mod or the go.sum of the source tree. A test compares the list with the
// imports.
var programModules = []string{
	"connectrpc.com/connect",
	"github.com/cespare/xxhash/v2",
	"github.com/colinmarc/hdfs/v2",
	"github.com/dsnet/compress",
	"github.com/fxamacker/cbor/v2",
	"github.com/hashicorp/go-uuid",
	"github.com/jcmturner/aescts/v2",
	"github.com/jcmturner/dnsutils/v2",
	"github.com/jcmturner/gofork",
	"github.com/jcmturner/goidentity/v6",
	"github.com/jcmturner/gokrb5/v8",
	"github.com/jcmturner/rpc/v2",
	"github.com/klauspost/compress",
	"github.com/pierrec/lz4/v4",
	"github.com/stretchr/testify",
	"github.com/x448/float16",
	"golang.org/x/crypto",
	"golang.org/x/net",
	"golang.org/x/sync",
	"golang.org/x/sys",
	"golang.org/x/term",
	"google.golang.org/protobuf",
}

// requiredVersions returns the versions of programModules in a source tree: from its go.mod,
// else from its go.sum. go.sum has two lines for most modules; the line with a version that
// ends in /go.mod does not select a version. A module in neither file is left out.
func requiredVersions(tree *modfile.File, sums []byte) (required []module.Version) {
	versions := make(map[string]string)
	for line := range strings.Lines(string(sums)) {
		if fields := strings.Fields(line); len(fields) == 3 && !strings.HasSuffix(fields[1], "/go.mod") {
			versions[fields[0]] = fields[1]
		}
	}
	for _, r := range tree.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	for _, path := range programModules {
		if v, found := versions[path]; found {
			required = append(required, module.Version{Path: path, Version: v})
		}
	}
	return required
}

// goMod returns the new module's go.mod. With a source tree it requires what programs need of the
// tree's requirements, and repeats the tree's replacements, which count in the main module
// only. Without one it requires the version of this binary, and `go mod tidy` adds the rest.
func (p *Project) goMod(tree *modfile.File, sums []byte) ([]byte, error) {
	f := new(modfile.File)
	if err := f.AddModuleStmt(p.Module); err != nil {
		return nil, fmt.Errorf("go.mod: %w", err)
	}
	language, version := goVersion(), p.Version
	var required []module.Version
	if tree != nil {
		// The replacement decides what is used; any version will do.
		version = "v0.0.0"
		required = requiredVersions(tree, sums)
		if tree.Go != nil {
			language = tree.Go.Version
		}
	}
	if err := f.AddGoStmt(language); err != nil {
		return nil, fmt.Errorf("go.mod: %w", err)
	}
	f.AddNewRequire(modulePath, version, false)
	for _, m := range required {
		f.AddNewRequire(m.Path, m.Version, true)
	}
	// Two blocks, as go mod tidy writes them.
	f.SetRequireSeparateIndirect(f.Require)
	if err := p.addReplaces(f, tree); err != nil {
		return nil, fmt.Errorf("go.mod: %w", err)
	}
	f.Cleanup()
	return f.Format()
}

// addReplaces adds a replacement of Hammr's module by the source tree, and the replacements in
// the tree's own go.mod, with relative paths made absolute.
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

// withinTree returns the path of a replacement, seen from outside its tree. A replacement by a
// version of a module has no path in the tree.
func withinTree(tree string, m module.Version) string {
	if m.Version != "" || filepath.IsAbs(m.Path) {
		return m.Path
	}
	return filepath.Join(tree, m.Path)
}

// goVersion returns the language version of the toolchain that built this binary, which also builds
// the new module. A development version of Go has a name that go.mod does not accept; then it
// is a release that Hammr needs.
func goVersion() string {
	v, _, _ := strings.Cut(strings.TrimPrefix(runtime.Version(), "go"), " ")
	if !modfile.GoVersionRE.MatchString(v) {
		return "1.26"
	}
	return v
}
