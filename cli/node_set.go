package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/docs"
)

// newNodeSet exits when the leader knows the new slots.
func (r clusterCommands) newNodeSet() *cobra.Command {
	return r.verb(changeVerb{
		do: "node.set", use: "set NODE... [--map-slots N] [--reduce-slots N]", short: "Change how many tasks tasknodes run at once", done: "Set the slots of node %s",
		long: `Change how many tasks tasknodes run at once, without a restart. More slots are
used at once. If there are fewer, running tasks continue to their end, unless
the scheduler preempts them, and no others start meanwhile.

A tasknode keeps the numbers over restarts, until they are set again, or its
settings --map-slots or --reduce-slots change. It must be connected.`,
		example: "  hammr node set n1 n2 --map-slots 8",
	}, func(cmd *cobra.Command) (check func() error, value *string) {
		value = new(string)
		for _, kind := range []string{"map", "reduce"} {
			cmd.Flags().Int(kind+"-slots", 0, "`number` of "+kind+" tasks at once (default as before)")
		}
		return func() error {
			var parts []string
			for _, kind := range []string{"map", "reduce"} {
				if f := cmd.Flags().Lookup(kind + "-slots"); f.Changed {
					parts = append(parts, kind+"="+f.Value.String())
				}
			}
			if len(parts) == 0 {
				return errors.New("give --map-slots, --reduce-slots or both")
			}
			*value = strings.Join(parts, ",")
			_, err := docs.ParseSlots(*value)
			return err
		}, value
	})
}
