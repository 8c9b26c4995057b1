package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/ops/doctor"
	"github.com/hammr/hammr/internal/ops/sshcluster"
)

// newClusterDoctor exits with 0 if no machine has a fault, else with 1.
func newClusterDoctor() *cobra.Command {
	var asJSON bool
	f := new(sshFlags)
	return sshCommand(&cobra.Command{
		Use:   "doctor --hostfile FILE",
		Short: "Examine the machines of a hostfile for common faults",
		Long: `Run 'hammr doctor' on all machines of a hostfile, with the settings of their
daemons, and print what is not ok. Each machine also connects to all daemons of
the cluster that run, so firewalls between any two machines are found. Machines
without the program are not examined: 'hammr cluster start' copies it.

The command exits with 1 if a machine has a fault or does not answer.
'hammr doctor --cluster' examines what the masters know.`,
		Example: `  hammr cluster doctor --hostfile hosts
  hammr cluster doctor --hostfile hosts --json`,
	}, f, func(ctx context.Context, c *sshcluster.Cluster, stdout, _ io.Writer) error {
		all := examine(c.Examine(ctx))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !asJSON {
			writeExaminations(stdout, all)
		} else if err := writeJSON(stdout, all); err != nil {
			return err
		}
		for _, e := range all {
			if e.Report == nil || e.Report.Count(doctor.Fault) > 0 {
				return exitError(exitFailed)
			}
		}
		return nil
	}, func(cmd *cobra.Command) {
		cmd.Flags().BoolVar(&asJSON, "json", false, "print the reports of all machines as JSON")
	})
}

// examination is the report of a machine, in `hammr cluster doctor --json`.
type examination struct {
	Host   string         `json:"host"`
	Error  string         `json:"error,omitempty"` // why there is no report
	Report *doctor.Report `json:"report,omitempty"`
}

// examine decodes the reports of the machines.
func examine(raw []sshcluster.Examination) []examination {
	all := make([]examination, len(raw))
	for i, e := range raw {
		all[i].Host = e.Host
		err := e.Err
		if err == nil {
			all[i].Report = new(doctor.Report)
			err = json.Unmarshal(e.Report, all[i].Report)
		}
		if err != nil {
			all[i].Report, all[i].Error = nil, strings.Join(strings.Fields(err.Error()), " ")
		}
	}
	return all
}

// writeExaminations prints the findings of all machines that are not ok, and what the machines
// have in common.
func writeExaminations(w io.Writer, all []examination) {
	width, check := len("HOST"), len("CHECK")
	for _, e := range all {
		width = max(width, len(e.Host))
	}
	for _, c := range doctor.Checks() {
		check = max(check, len(c.Name))
	}
	line := func(host, name, state, text string) {
		fmt.Fprintf(w, "%-*s  %-*s  %-5s  %s\n", width, host, check, name, state, strings.Map(blankControl, text))
	}
	line("HOST", "CHECK", "STATE", "DETAIL")
	counts := make(map[doctor.State]int)
	for _, e := range all {
		if e.Report == nil {
			line(e.Host, "", "", e.Error)
			continue
		}
		for _, f := range e.Report.Findings {
			counts[f.State]++
			if f.State >= doctor.Warn {
				line(e.Host, f.Check, f.State.String(), f.Detail)
				line("", "", "", "remedy: "+f.Remedy)
			}
		}
	}
	fmt.Fprintf(w, "%d machines: %d ok, %d skipped, %d warn, %d fault\n", len(all), counts[doctor.OK], counts[doctor.Skipped], counts[doctor.Warn], counts[doctor.Fault])
	writeSlowestConnection(w, all)
}

// writeSlowestConnection prints how many connections between machines were made, and which took longest.
func writeSlowestConnection(w io.Writer, all []examination) {
	made, from, slowest := 0, "", doctor.Finding{}
	for _, e := range all {
		if e.Report == nil {
			continue
		}
		for _, f := range e.Report.Findings {
			if f.Millis > 0 {
				made++
			}
			if f.Millis > slowest.Millis {
				from, slowest = e.Host, f
			}
		}
	}
	if made > 0 {
		fmt.Fprintf(w, "%d connections between machines; the slowest took %.1f ms, from %s: %s\n", made, slowest.Millis, from, slowest.Detail)
	}
}
