// Command randomtextwriter is the randomtextwriter example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/randomtextwriter"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(randomtextwriter.Program()) }
