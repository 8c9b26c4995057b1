// Command histogram is the histogram example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/histogram"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(histogram.Program()) }
