// Command kmeans is the kmeans example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/kmeans"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(kmeans.Program()) }
