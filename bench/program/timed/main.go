// Command timed runs a command and writes its cost to a file:
//
//	timed SAMPLE COMMAND [ARGS...]
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/hammr/hammr/bench"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "Usage: timed SAMPLE COMMAND [ARGS...]")
		os.Exit(2)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	code, err := bench.Timed(os.Args[1], os.Args[2:], signals)
	if err != nil {
		fmt.Fprintln(os.Stderr, "timed:", err)
		os.Exit(1)
	}
	os.Exit(code)
}
