package scaffold

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"text/template"

	"github.com/hammr/hammr/internal/kit/pattern"
)

// module is a module with a version. A directory that replaces a module has no version.
type module struct{ Path, Version string }

// treeModule is what a new go.mod repeats of the source tree's, as `go mod edit -json` prints it.
type treeModule struct {
	Go      string
	Require []module
	Replace []struct{ Old, New module }
}

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

// readModule parses the go.mod of a source tree. The go command does it, which the user of the new
// module needs anyway.
func readModule(path string) (*treeModule, error) {
	data, err := exec.Command("go", "mod", "edit", "-json", path).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return nil, fmt.Errorf("source tree of hammr: go mod edit -json %s: %w", path, err)
	}
	tree := new(treeModule)
	if err := json.Unmarshal(data, tree); err != nil {
		return nil, fmt.Errorf("source tree of hammr: %s: %w", path, err)
	}
	return tree, nil
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
func requiredVersions(tree *treeModule, sums []byte) (required []module) {
	versions := make(map[string]string)
	for line := range strings.Lines(string(sums)) {
		if fields := strings.Fields(line); len(fields) == 3 && !strings.HasSuffix(fields[1], "/go.mod") {
			versions[fields[0]] = fields[1]
		}
	}
	for _, r := range tree.Require {
		versions[r.Path] = r.Version
	}
	for _, path := range programModules {
		if v, found := versions[path]; found {
			required = append(required, module{path, v})
		}
	}
	return required
}

// goModTemplate has two blocks of requirements, as go mod tidy writes them.
const goModTemplate = `module {{.Module}}

go {{.Go}}

require {{.Hammr}}
{{with .Required}}
require (
{{- range .}}
	{{.Path}} {{.Version}} // indirect
{{- end}}
)
{{end}}{{range .Replaced}}
replace {{.}}
{{end}}`

// goMod returns the new module's go.mod. With a source tree it requires what programs need of the
// tree's requirements, for a policy all of them because its program is the whole hammr, and repeats the tree's replacements, which count in the main module
// only. Without one it requires the version of this binary, and `go mod tidy` adds the rest.
func (p *Project) goMod(tree *treeModule, sums []byte) ([]byte, error) {
	data := struct {
		Module, Go, Hammr string
		Required          []module
		Replaced          []string
	}{Module: p.Module, Go: goVersion(), Hammr: modulePath + " " + p.Version}
	if tree != nil {
		// The replacement decides what is used; any version will do.
		data.Hammr = modulePath + " v0.0.0"
		if data.Required = tree.Require; !p.policy {
			data.Required = requiredVersions(tree, sums)
		}
		data.Replaced = p.replacements(tree)
		if tree.Go != "" {
			data.Go = tree.Go
		}
	}
	var b bytes.Buffer
	if err := template.Must(template.New("go.mod").Parse(goModTemplate)).Execute(&b, data); err != nil {
		return nil, fmt.Errorf("go.mod: %w", err)
	}
	return b.Bytes(), nil
}

// replacements returns the replacements in the tree's own go.mod, with relative paths made absolute,
// and one of Hammr's module by the tree.
func (p *Project) replacements(tree *treeModule) (lines []string) {
	for _, r := range tree.Replace {
		lines = append(lines, r.Old.quoted()+" => "+withinTree(p.Source, r.New).quoted())
	}
	return append(lines, modulePath+" => "+module{Path: p.Source}.quoted())
}

// bareWord is text that go.mod has without quotes.
var bareWord = pattern.New(`^[\w/.~+-]+$`)

// quoted returns a module as go.mod has it. The path may be that of a directory with any characters.
func (m module) quoted() string {
	path := m.Path
	if !bareWord().MatchString(path) || strings.Contains(path, "//") {
		path = strconv.Quote(path)
	}
	return strings.TrimSpace(path + " " + m.Version)
}

// withinTree returns a replacement, seen from outside its tree. A version of a module has no path
// in the tree.
func withinTree(tree string, m module) module {
	if m.Version != "" || filepath.IsAbs(m.Path) {
		return m
	}
	return module{Path: filepath.Join(tree, m.Path)}
}

var goRelease = pattern.New(`^1\.\d+(\.\d+|rc\d+)?$`)

// goVersion returns the language version of the toolchain that built this binary, which also builds
// the new module. A development version of Go has a name that go.mod does not accept; then it
// is a release that Hammr needs.
func goVersion() string {
	v, _, _ := strings.Cut(strings.TrimPrefix(runtime.Version(), "go"), " ")
	if !goRelease().MatchString(v) {
		return "1.26"
	}
	return v
}
