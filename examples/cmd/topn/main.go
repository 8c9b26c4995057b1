// Command topn is the topn example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/topn"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(topn.Program()) }
