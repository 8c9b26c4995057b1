package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/ops/scaffold"
	"github.com/hammr/hammr/sched/registry"
)

// newNew writes files and asks no daemon. If it has to download hammr it runs `go mod tidy`.
// If that fails, it exits with 1, and the files of the program stay.
func newNew() *cobra.Command {
	var cfg scaffold.Config
	var policy bool
	cmd := &cobra.Command{
		Use:   "new DIR [--policy] [--module PATH] [--source TREE]",
		Short: "Create a program with its test, ready to build",
		Long: `Create a program with its test in DIR: a Go module that builds and passes its
test. It uses the source tree of hammr around the current directory, or the one
that this binary was built from; else it requires this version of hammr and
fetches it.

With --policy, create a scheduling policy with its test instead. It has the name
of DIR, and the program is the whole hammr with that policy in it.`,
		Example: `  hammr new mywords
  hammr new --policy mypolicy
  hammr new jobs/clicks --module example.com/team/clicks`,
		Args: oneArg("a directory"),
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if cfg.Dir = args[0]; policy {
				cfg.Policies = registry.Names()
			}
			return create(ctx, cfg, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}),
	}
	cmd.Flags().BoolVar(&policy, "policy", false, "create a scheduling policy, and a program that is hammr with it")
	cmd.Flags().StringVar(&cfg.Module, "module", "", "`path` of the new module (default the name of DIR)")
	cmd.Flags().StringVar(&cfg.Source, "source", "", "source `tree` of hammr to use (default the one around the current directory, else the one of this binary)")
	return cmd
}

// create writes the program and prints the commands that build and run it.
func create(ctx context.Context, cfg scaffold.Config, stdout, stderr io.Writer) error {
	p, err := scaffold.New(cfg)
	if err != nil {
		return err
	}
	// With a source tree nothing has to be fetched: New has copied its go.sum.
	if p.Source == "" {
		if err := fetch(ctx, cfg.Dir, stderr); err != nil {
			return fmt.Errorf("program is written, but hammr %s could not be fetched: %w; "+
				"run 'go mod tidy' in %s when it can be", p.Version, err, cfg.Dir)
		}
	}
	fmt.Fprintf(stdout, "%s: module %s, using hammr %s\n\n", cfg.Dir, p.Module, p.Version+p.Source)
	if cfg.Policies != nil {
		fmt.Fprintf(stdout, "  cd %s\n  go test ./...\n  go build\n  ./%s sim verify %s\n", cfg.Dir, p.Name, p.Name)
		return nil
	}
	fmt.Fprintf(stdout, "  cd %s\n  go test\n  go build\n  ./%s IN OUT\n", cfg.Dir, p.Name)
	return nil
}

// fetch downloads what the new module requires, by `go mod tidy` in its directory. It needs
// the Go toolchain, which the user needs next in any case.
func fetch(ctx context.Context, dir string, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "tidy")
	cmd.Dir = dir
	cmd.Stderr = stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd.Run()
}
