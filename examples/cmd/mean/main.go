// Command mean is the mean example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/mean"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(mean.Program()) }
