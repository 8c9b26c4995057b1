// Package scaffold is `hammr new`: it writes a program of one job with its
// test, a module that builds and passes at once.
//
//	project, err := scaffold.New(scaffold.Config{Dir: "mywords"})
//
// The new module needs Hammr from somewhere. That is a source tree on this
// machine if there is one: the one that the current directory or the new one
// lies in, or that the running binary was built from. Such a tree is named by a
// replace directive, and what it requires itself is copied from its go.mod and
// go.sum, so that nothing is downloaded. Otherwise the module requires the
// version of the running binary, and `go mod tidy` has to fetch it.
package scaffold
