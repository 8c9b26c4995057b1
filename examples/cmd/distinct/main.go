// Command distinct is the distinct example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/distinct"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(distinct.Program()) }
