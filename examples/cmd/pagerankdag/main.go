// Command pagerankdag is the pagerankdag example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/pagerankdag"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(pagerankdag.Program()) }
