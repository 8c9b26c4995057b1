// Command wordcountpipe is the wordcountpipe example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/wordcountpipe"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(wordcountpipe.Program()) }
