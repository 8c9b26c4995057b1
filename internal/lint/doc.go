// Package lint has the rules of the project's architecture and language as tests: which
// package may import which, that the core is pure, that a jobmaster and the simulator have
// the same policies and apply entries in the same way, how long files and functions may be, that files with our own build tags
// compile, and that words follow docs/glossary.md. Its tests check the whole source tree in
// every `go test ./...`. Tests of internal/conf check that the code reads every property.
//
// The rules, by file:
//
//	imports.go     imports that the table does not allow, and links that no program may have
//	table.go       the import table, the pure packages, the reserved modules
//	purity.go      I/O, clocks, goroutines and randomness in the core
//	contained.go   calls of cluster.State.Apply that do not contain its panics
//	policy.go      scheduling policies that programs could use without their registry
//	style.go       long files and functions, marks of unfinished work, tests that sleep
//	tags.go        files that only our own build tags compile
//	reach.go       modules and helpers of tests that programs link
//	size.go        lines of code, and the size of the program
//	level.go       tests that leave the gate without a guard
//	glossary.go    words of the glossary's table of banned words
//	vocabulary.go  where these words may stand: names, comments, strings, pages
//	tree.go        reading the source tree, the list of packages and the pages
//
// Each rule is a function from syntax, or from the output of `go list`, to a list of
// findings, so it can be tested on a few lines of source. A finding names the file and line,
// the problem and the remedy. For a new package, add a row to table.go.
package lint
