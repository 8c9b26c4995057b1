package lint

import (
	"fmt"
	"go/build/constraint"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// toolchainTags are the build tags that Go sets on the machines that compile and test this
// module. Files with only these are compiled by every `go test ./...`.
var toolchainTags = []string{"amd64", "arm64", "linux", "race", "unix"}

// ownTags returns the build tags of a file that must be set explicitly. Only constraints
// before the package clause count, as for the compiler.
func ownTags(s source) (tags []string) {
	for _, group := range s.syntax.Comments {
		for _, line := range group.List {
			// After the package clause, the line is an ordinary comment.
			if line.Pos() < s.syntax.Package && constraint.IsGoBuild(line.Text) {
				tags = append(tags, tagsIn(line.Text)...)
			}
		}
	}
	return tags
}

// tagsIn returns the tags in a line, without those of the toolchain.
func tagsIn(line string) (tags []string) {
	expr, err := constraint.Parse(line)
	if err != nil {
		return nil // the compiler reports it
	}
	expr.Eval(func(tag string) bool { // it asks for every tag, whatever the answers
		if !slices.Contains(toolchainTags, tag) {
			tags = append(tags, tag)
		}
		return false
	})
	return tags
}

// tagged returns the directories of files with one of our own build tags, by tag. Only those are
// vetted: go vet of the whole tree would take minutes.
func tagged(all []source) map[string][]string {
	dirs := make(map[string][]string)
	for _, s := range all {
		for _, tag := range ownTags(s) {
			// go vet takes directories, not files.
			if dir := "./" + s.packageName(); !slices.Contains(dirs[tag], dir) {
				dirs[tag] = append(dirs[tag], dir)
			}
		}
	}
	return dirs
}

// vetFindings returns the reports of go vet, with a tag, for directories of the module at
// root. go vet compiles tests too, and most tagged files are tests.
func vetFindings(root, tag string, dirs []string) []string {
	cmd := exec.Command("go", append([]string{"vet", "-tags", tag}, dirs...)...)
	// As `make lint` vets, so that the same compiled packages are read.
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return []string{fmt.Sprintf("go vet -tags %s: %v\n%s", tag, err, strings.TrimSpace(string(out)))}
	}
	return nil
}
