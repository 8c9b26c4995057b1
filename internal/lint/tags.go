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

// tagged returns our own build tags, and the directories of files with one of them. Only those are
// vetted: go vet of the whole tree would take minutes.
func tagged(all []source) (tags, dirs []string) {
	for _, s := range all {
		if own := ownTags(s); len(own) > 0 {
			tags, dirs = append(tags, own...), append(dirs, "./"+s.packageName()) // go vet takes directories, not files
		}
	}
	slices.Sort(tags)
	slices.Sort(dirs)
	return slices.Compact(tags), slices.Compact(dirs)
}

// vetFindings returns the reports of go vet, with tags, for directories of the module at root. go vet
// compiles tests too, and most tagged files are tests. All tags are set at once, since for each other set
// of tags go vet reads all dependencies again.
func vetFindings(root string, tags, dirs []string) []string {
	list := strings.Join(tags, ",")
	cmd := exec.Command("go", append([]string{"vet", "-tags", list}, dirs...)...)
	// As `make lint` vets, so that the same compiled packages are read.
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return []string{fmt.Sprintf("go vet -tags %s: %v\n%s", list, err, strings.TrimSpace(string(out)))}
	}
	return nil
}
