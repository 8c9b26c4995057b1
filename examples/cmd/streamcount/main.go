// Command streamcount is the streamcount example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/streamcount"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(streamcount.Program()) }
