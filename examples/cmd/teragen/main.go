// Command teragen is the teragen example as a program of its own.
package main

import (
	"github.com/hammr/hammr/examples/teragen"
	"github.com/hammr/hammr/mr"
)

func main() { mr.Main(teragen.Program()) }
