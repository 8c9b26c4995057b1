// Command secondarysort is the secondarysort example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/secondarysort"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(secondarysort.Program()) }
