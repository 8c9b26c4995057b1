// Command testdfsio is the TestDFSIO example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/testdfsio"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(testdfsio.Program()) }
