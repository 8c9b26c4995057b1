// Command teravalidate is the teravalidate example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/teravalidate"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(teravalidate.Program()) }
