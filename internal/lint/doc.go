// Package lint has the rules of the project's architecture and language as tests: which
// package may import which, that the core is pure, that a jobmaster and the simulator have
// the same policies, how long files and functions may be, that files with our own build tags
// compile, and that words follow docs/glossary.md. Its tests check the whole source tree in
// every `go test ./...`. That every property is read is tested in internal/conf.
//
// Each rule is a function from syntax, or from the output of `go list`, to a list of
// findings, so it can be tested on a few lines of source. A finding names the file and line,
// the problem and the remedy. For a new package, add a row to table.go.
package lint
