package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/kit/interrupt"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/ops/allocation"
	"github.com/hammr/hammr/internal/rpc"
)

// allocationFlags are the flags of commands that run a program in an allocation of a batch
// scheduler.
type allocationFlags struct {
	state, staging, localDir, shell string
	inState                         bool
	masters                         int
	settings                        []string
	notice                          time.Duration
}

// batchScheduler is what differs between schedulers.
type batchScheduler struct {
	// find reads the allocation that this process runs in.
	find func(ctx context.Context) (*allocation.Allocation, error)
	// launcher starts commands on its nodes, unless --shell is given.
	launcher allocation.Launcher
	// again asks for another allocation, and returns the exit code of this one.
	again func(ctx context.Context, job string, s *saveSignals) (code int, err error)
}

// describe adds the flags.
func (f *allocationFlags) describe(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.state, "state", "", "`directory` on a file system that all nodes see, for what outlives the allocation")
	flags.StringVar(&f.staging, "staging", "", "full name of the `directory` for splits and programs (default in --state)")
	flags.StringVar(&f.localDir, "local-dir", "", "`directory` of each node for local files, such as '$TMPDIR' in quotes (default its $TMPDIR or /tmp)")
	flags.BoolVar(&f.inState, "local-in-state", false, "keep local files in --state, so that they are not copied")
	flags.IntVar(&f.masters, "masters", 1, "`number` of jobmasters, 1 or 3")
	flags.StringArrayVar(&f.settings, "set", nil, "`setting` of all daemons of a role, such as tasknode.min-free=1g; repeatable")
	flags.DurationVar(&f.notice, "save-before", 2*time.Minute, "`time` before the end of the allocation at which saving begins at the latest")
	flags.StringVar(&f.shell, "shell", "", "`command` that runs its last argument on a node; {host} is the node (default the scheduler's)")
	required(cmd, "state")
}

// command completes a command that runs a program in an allocation.
func (f *allocationFlags) command(cmd *cobra.Command, s batchScheduler) *cobra.Command {
	f.describe(cmd)
	cmd.Args = someArgs("a program")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		program, err := clusterProgram(args)
		if err != nil {
			return usageError{err}
		}
		cfg, err := f.config(s, program, args)
		if err != nil {
			return err
		}
		return f.run(cmd, s, cfg)
	}
	return cmd
}

// config returns the configuration for package allocation, without the allocation.
func (f *allocationFlags) config(s batchScheduler, program, args []string) (cfg allocation.Config, err error) {
	self, err := ownProgram()
	if err != nil {
		return cfg, err
	}
	if f.state, err = filepath.Abs(f.state); err != nil {
		return cfg, err
	}
	cfg = allocation.Config{
		Launcher: s.launcher, Program: []string{self}, Serve: []string{allocationNode}, State: f.state, Staging: f.staging,
		LocalDir: f.localDir, Shared: f.inState, Masters: f.masters, Settings: f.settings, Notice: f.notice, Command: program, Name: args,
		Connect: func(masters []string, token string) (allocation.Admin, error) {
			return remote.New(remote.Config{Config: rpc.Config{Masters: masters, Token: token}})
		},
		Starter: mainThread, Stdin: os.Stdin,
	}
	if f.shell != "" {
		if cfg.Launcher, err = allocation.ParseShell(f.shell); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

// saveSignals are the signals at which jobs are saved: USR1 and USR2, by which a scheduler gives
// notice, and TERM, by which it ends an allocation.
type saveSignals struct {
	suspend    chan string   // what the first one was
	ended      bool          // it was TERM: the scheduler ends the allocation by itself; valid once suspend has a value
	terminated chan struct{} // closed at TERM
}

// catchSaveSignals catches them until the process ends.
func catchSaveSignals() *saveSignals {
	s := &saveSignals{suspend: make(chan string, 1), terminated: make(chan struct{})}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM)
	go s.serve(signals)
	return s
}

func (s *saveSignals) serve(signals <-chan os.Signal) {
	first, running := true, true
	for sig := range signals {
		if first {
			s.ended = sig == syscall.SIGTERM
			s.suspend <- "signal " + sig.String()
			first = false
		}
		if sig == syscall.SIGTERM && running {
			close(s.terminated)
			running = false
		}
	}
}

// wait waits for the end of the allocation, which TERM announces, for some time.
func (s *saveSignals) wait(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-s.terminated:
	case <-ctx.Done():
	}
}

// run runs the program. USR1, USR2 and TERM save it for another allocation; Ctrl-C ends it.
func (f *allocationFlags) run(cmd *cobra.Command, s batchScheduler, cfg allocation.Config) error {
	others := slices.DeleteFunc(interrupt.Signals(), func(s os.Signal) bool { return s == syscall.SIGTERM })
	ctx, stop := signal.NotifyContext(context.Background(), others...)
	defer stop()
	signals := catchSaveSignals()
	var err error
	if cfg.Allocation, err = s.find(ctx); err != nil {
		return runError{err}
	}
	cfg.Suspend, cfg.Stdout, cfg.Stderr = signals.suspend, cmd.OutOrStdout(), cmd.ErrOrStderr()
	out, err := allocation.Run(ctx, cfg)
	switch {
	case ctx.Err() != nil:
		return exitError(exitInterrupted)
	case err != nil:
		return runError{err}
	case !out.Saved:
		return exitWith(out.Code)
	}
	code, err := s.again(ctx, cfg.Allocation.Job, signals)
	if err != nil {
		return runError{fmt.Errorf("%w; the jobs are saved: submit the same script again to continue them", err)}
	}
	return exitWith(code)
}

// output runs a tool of a scheduler and returns what it prints.
func output(ctx context.Context, name string, args ...string) (string, error) {
	text, err := exec.CommandContext(ctx, name, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(append([]string{name}, args...), " "), err)
	}
	return string(text), nil
}

// allocationNode is the name of the command that runs daemons on a node.
const allocationNode = "allocation-node"

// newAllocationNode runs daemons on a node of an allocation, as its input says. It is started by
// the commands for allocations and not by users. It exits with 0 at the end of its input.
func newAllocationNode() *cobra.Command {
	return &cobra.Command{
		Use:     allocationNode,
		Short:   "Run daemons on a node of an allocation, as the input says",
		Example: "  hammr " + allocationNode,
		Hidden:  true,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := ownProgram()
			if err != nil {
				return runError{err}
			}
			signal.Ignore(syscall.SIGUSR1, syscall.SIGUSR2) // they are for the job script
			starter := procfs.NewStarter()
			defer starter.Close()
			return untilSignal(func(ctx context.Context) error {
				return allocation.Serve(ctx, allocation.ServeConfig{Program: []string{self}, Starter: starter, In: cmd.InOrStdin(), Out: cmd.OutOrStdout()})
			})
		},
	}
}
