// Command invertedindex is the invertedindex example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/invertedindex"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(invertedindex.Program()) }
