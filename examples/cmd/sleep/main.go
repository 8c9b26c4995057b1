// Command sleep is the sleep example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/sleep"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(sleep.Program()) }
