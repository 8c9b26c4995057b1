// Command hammr is everything that Hammr has: the bundled programs, the file
// system shell, and helpers for writing programs of one's own.
package main

import "os"

func main() { os.Exit(execute(os.Args[1:])) }
