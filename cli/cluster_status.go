package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/ops/sshcluster"
)

// newClusterStatus exits with 0 if all daemons run, else with 1.
func newClusterStatus() *cobra.Command {
	var asJSON bool
	f := new(sshFlags)
	return sshCommand(&cobra.Command{
		Use:   "status --hostfile FILE",
		Short: "Show the daemons of a hostfile",
		Long: `Show the daemons of a hostfile, also those of machines that do not answer. The
state is that of the process on its machine:

  running   it is ready
  starting  it has a process and is not ready yet
  stopped   it has no process
  absent    it was never started there
  unknown   the machine does not answer

Member is what the masters report of it. The command exits with 1 unless all
daemons run.`,
		Example: `  hammr cluster status --hostfile hosts --json`,
	}, f, func(ctx context.Context, c *sshcluster.Cluster, stdout, stderr io.Writer) error {
		rows := c.Status(ctx)
		if !asJSON {
			writeClusterStatus(stdout, rows)
		} else if err := writeJSON(stdout, rows); err != nil {
			return err
		}
		if slices.ContainsFunc(rows, func(r sshcluster.Row) bool { return r.State != sshcluster.Running }) {
			return exitError(exitFailed)
		}
		return nil
	}, func(cmd *cobra.Command) { cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON") })
}

// programDigits is how much of a program's hash a table shows.
const programDigits = 8

// writeClusterStatus prints a row for each daemon, then what is wrong.
func writeClusterStatus(w io.Writer, rows []sshcluster.Row) {
	t := table{heading: []string{"Host", "Role", "Name", "Address", "State", "Member", "Version", "Program", "Pid"}}
	programs := make(map[string]bool)
	for _, r := range rows {
		program, pid := r.Program, ""
		if program != "" {
			program = program[:min(programDigits, len(program))]
			programs[program] = true
		}
		if r.PID > 0 {
			pid = fmt.Sprint(r.PID)
		}
		t.add(r.Host, r.Role, r.Name, r.Address, string(r.State), r.Member, r.Version, program, pid)
	}
	t.write(w)
	if len(programs) > 1 {
		fmt.Fprintf(w, "The daemons run %d programs, %v; 'hammr cluster upgrade' makes them equal.\n", len(programs), slices.Sorted(maps.Keys(programs)))
	}
	printed := ""
	for _, r := range rows {
		if r.Error != "" && r.Host != printed {
			fmt.Fprintln(w, r.Error)
			printed = r.Host
		}
	}
}
