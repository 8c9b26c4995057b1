// Command hammr is the one binary of the project. Package cli has its commands.
package main

import "github.com/hammr/hammr/cli"

func main() { cli.Main() }
