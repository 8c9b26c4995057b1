// Package lint holds the architecture of the project: which package may import
// which, that the core is pure, that a jobmaster and the simulator have the same
// policies, how large files and functions may grow, and that files with build tags
// of our own compile. Its tests run over the whole source tree with every
// `go test ./...`.
//
// Each rule is a function from syntax or from the output of `go list` to a list
// of findings, so that it can be tried on a few lines of source. A finding names
// the file and line, what is wrong and what to do instead. Who adds a package
// gives it a row in table.go.
package lint
