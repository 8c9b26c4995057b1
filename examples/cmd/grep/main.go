// Command grep is the grep example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/grep"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(grep.Program()) }
