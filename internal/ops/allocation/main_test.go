package allocation

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/internal/daemon"
)

// TestMain serves as the program that Serve starts, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "model":
			os.Exit(modelDaemon(os.Args[2], os.Args[3]))
		case "tool":
			fmt.Fprintln(os.Stderr, "the tool fails")
			os.Exit(3)
		}
	}
	goleak.VerifyTestMain(m)
}

// modelDaemon is a model of a daemon: it is ready at once, waits for ever, or fails.
func modelDaemon(act, ready string) int {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	switch act {
	case "fail":
		fmt.Fprintln(os.Stderr, "the model fails")
		return 1
	case "serve":
		if err := daemon.WriteReady(ready, daemon.Ready{Name: "model", Address: "here:1"}); err != nil {
			return 2
		}
	}
	<-end
	return 0
}
