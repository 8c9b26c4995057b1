package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/logs/profile"
)

// newTaskStacks prints the stacks of an attempt's goroutines, as a Go program does that gets SIGQUIT.
func (r clusterCommands) newTaskStacks() *cobra.Command {
	return show(r, &cobra.Command{
		Use:   "stacks ATTEMPT",
		Short: "Print the stacks of a running attempt's goroutines",
		Long: `Print the stacks of the goroutines in the process of a running attempt, to see
where a task hangs. The task continues.`,
		Example: "  hammr task stacks attempt_1763700000000_0001_m_000000_0",
		Args:    oneArg("the id of an attempt"),
	}, func(ctx context.Context, q *query) (apidoc.AttemptLog, error) {
		data, err := q.takeProfile(ctx, "attempt", profile.Query{Kind: profile.Stacks})
		return apidoc.AttemptLog{Attempt: q.args[0], Stream: profile.Stacks, Text: string(data)}, err
	}, func(q *query, l apidoc.AttemptLog) { fmt.Fprint(q.stdout, l.Text) })
}

// newProfile takes a profile of an object: an attempt, a node or a master. argument is how the help
// calls it.
func (r clusterCommands) newProfile(object, argument, example string) *cobra.Command {
	p, out := profile.Query{}, ""
	what := map[string]string{"attempt": "a running attempt", "node": "a tasknode", "master": "a master"}[object]
	cmd := r.command(&cobra.Command{
		Use:   "profile " + argument + " [--kind KIND] [--out FILE]",
		Short: "Take a profile of the process of " + what,
		Long: `Take a profile of the process of ` + what + `, which continues, and
write it to a file for 'go tool pprof'. The kind is one of

  cpu        where the processors spend their time in the next --seconds
  heap       what has allocated the memory
  goroutine  where goroutines are
  stacks     the same as text`,
		Example: "  hammr " + example + " --out cpu.pb.gz\n  go tool pprof -top cpu.pb.gz",
		Args: func(cmd *cobra.Command, args []string) error {
			return errors.Join(oneArg("the id of "+what)(cmd, args), p.Check())
		},
	}, func(ctx context.Context, q *query) error {
		data, err := q.takeProfile(ctx, object, p)
		if err != nil {
			return err
		}
		if out == "" {
			out = q.args[0] + "-" + p.Kind + profile.Suffix(p.Kind)
		}
		if err := os.WriteFile(out, data, 0o666); err != nil {
			return err
		}
		return q.changed(nil, object, apidoc.Change{ID: q.args[0], Done: "profiled", To: out}, "Wrote the profile of %s to %s", q.args[0], out)
	})
	cmd.Flags().StringVar(&p.Kind, "kind", profile.CPU, "`kind` of the profile: "+strings.Join(profile.Kinds, ", "))
	cmd.Flags().IntVar(&p.Seconds, "seconds", profile.DefaultSeconds, "`time` that a profile of kind cpu covers, 1 to 60")
	cmd.Flags().StringVar(&out, "out", "", "`file` to write (default named after the id and the kind)")
	return cmd
}

// takeProfile takes a profile of the object that the argument names. Any master answers.
func (q *query) takeProfile(ctx context.Context, object string, p profile.Query) ([]byte, error) {
	source, err := q.openSource(q.flags)
	if err != nil {
		return nil, err
	}
	p.Seconds = max(p.Seconds, 1) // the API checks it for all kinds
	data, err := source.Profile(ctx, docs.ProfileQuery{Object: object, ID: q.args[0], Query: p})
	return data.Bytes, errors.Join(err, source.Close())
}
