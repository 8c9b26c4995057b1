// Command pagerank is the pagerank example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/pagerank"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(pagerank.Program()) }
