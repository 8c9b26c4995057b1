// Package examples lists the bundled programs. Each is a package of its own,
// written only on package mr as a user would write it.
package examples

import (
	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/mr"
)

// Programs are the bundled programs, in order of name.
func Programs() []*mr.Program {
	return []*mr.Program{
		wordcount.Program(),
	}
}
