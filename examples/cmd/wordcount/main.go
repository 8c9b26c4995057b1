// Command wordcount is the wordcount example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(wordcount.Program()) }
