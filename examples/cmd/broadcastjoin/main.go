// Command broadcastjoin is the broadcastjoin example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/broadcastjoin"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(broadcastjoin.Program()) }
