// Command mrbench is the mrbench example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/mrbench"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(mrbench.Program()) }
