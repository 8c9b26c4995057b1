// Command randomwriter is the randomwriter example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/randomwriter"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(randomwriter.Program()) }
