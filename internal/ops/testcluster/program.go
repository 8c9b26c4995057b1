package testcluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/rpc"
)

// Program is the program hammr, for commands.
type Program struct {
	File    string
	Environ []string // names the cluster; empty for commands that use none
}

// errorBytes is how much of a command's standard error an error quotes.
const errorBytes = 2000

// Run runs a command to its end and returns its standard output without white space at
// both ends. An error quotes the end of its standard error. The command is interrupted
// when ctx ends, and uses no cluster that this process's environment names.
func (p Program) Run(ctx context.Context, args ...string) (stdout string, err error) {
	return p.Feed(ctx, nil, args...)
}

// Feed is like Run, but gives the command a standard input. A program that ignores the
// interrupt is killed after WaitDelay.
func (p Program) Feed(ctx context.Context, stdin io.Reader, args ...string) (stdout string, err error) {
	cmd := exec.CommandContext(ctx, p.File, args...)
	cmd.Env = append(withoutCluster(os.Environ()), p.Environ...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var errText strings.Builder
	cmd.Stdin, cmd.Stderr = stdin, &errText
	out, err := cmd.Output()
	if err != nil {
		text := errText.String()
		return "", fmt.Errorf("hammr %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(text[max(0, len(text)-errorBytes):]))
	}
	return strings.TrimSpace(string(out)), nil
}

// withoutCluster returns an environment that names no cluster. Otherwise a test that runs in a
// shell with HAMMR_MASTER set would use that cluster.
func withoutCluster(environ []string) (out []string) {
	for _, e := range environ {
		if !strings.HasPrefix(e, rpc.MasterVariable+"=") && !strings.HasPrefix(e, rpc.TokenFileVariable+"=") {
			out = append(out, e)
		}
	}
	return out
}
