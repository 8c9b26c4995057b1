// Command sort is the sort example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/sort"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(sort.Program()) }
