package lint

import (
	"go/build/constraint"
	"slices"
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

// tagsOf returns our own build tags, sorted.
func tagsOf(all []source) (tags []string) {
	for _, s := range all {
		tags = append(tags, ownTags(s)...)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}
