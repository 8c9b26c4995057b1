// Command join is the join example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/join"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(join.Program()) }
