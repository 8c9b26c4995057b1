package localcluster_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/ops/localcluster"
)

// TestMain makes the test's binary a daemon if Up has started it. If a test has started it,
// it is a foreground `up` or a process that occupies a port.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && (os.Args[1] == "jobmaster" || os.Args[1] == "tasknode"):
		os.Exit(fakeDaemon(os.Args[1], os.Args[2:]))
	case len(os.Args) > 2 && os.Args[1] == "foreground":
		os.Exit(foreground(os.Args[2]))
	case len(os.Args) > 1 && os.Args[1] == "port":
		os.Exit(listenUntilOrphaned())
	}
	goleak.VerifyTestMain(m)
}

// flagOf returns the value of a flag on a command line.
func flagOf(args []string, name string) string {
	if i := slices.Index(args, name); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

// fakeDaemon reports that it is ready and waits until it is ended. With "--fault NAME KIND"
// the daemon of that name has a fault instead.
func fakeDaemon(kind string, args []string) int {
	name := flagOf(args, "--id") + flagOf(args, "--name")
	log, err := os.OpenFile(flagOf(args, "--log-file"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer log.Close()
	fmt.Fprintf(log, "%s %s begins\n", kind, name)
	fmt.Printf("%s crashes now and then\n", name)
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	fault := ""
	if flagOf(args, "--fault") == name {
		fault = args[slices.Index(args, "--fault")+2]
	}
	switch fault {
	case "dies":
		fmt.Println("address already in use")
		return 1
	case "hangs":
		<-term
		return 0
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		term = nil
	}
	if err := daemon.WriteReady(flagOf(args, "--ready-file"), daemon.Ready{
		Name: name, PID: os.Getpid(), Address: strings.Replace(flagOf(args, "--address"), ":0", ":1", 1), HTTP: flagOf(args, "--http"),
	}); err != nil {
		fmt.Println(err)
		return 1
	}
	<-term
	fmt.Fprintf(log, "%s ends\n", name)
	return 0
}

// foreground returns a process that has a cluster and ends with it.
func foreground(dir string) int {
	c, err := localcluster.Up(context.Background(), localcluster.Config{Dir: dir, Program: []string{os.Args[0]}, Tasknodes: 1})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if err := c.Wait(context.Background(), nil); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}
