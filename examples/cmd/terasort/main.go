// Command terasort is the terasort example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/terasort"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(terasort.Program()) }
