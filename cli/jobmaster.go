package cli

import (
	"cmp"
	"context"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/sched/registry"
)

// newJobmaster returns the command of a daemon. It runs until SIGTERM and then exits with 0.
// It exits with 1 if it cannot start or cannot continue, and with 2 for a wrong setting from
// any source.
func newJobmaster() *cobra.Command {
	var c masterd.Config
	cmd := &cobra.Command{
		Use:   "jobmaster --id ID --dir DIR --token-file FILE [--masters ID=HOST:PORT,...]",
		Short: "Run a master of a cluster",
		Long: `Run a master of a cluster: a single one, or one of three or five that replicate
their state. Each setting is a flag, an environment variable HAMMR_..., or a key
in the file of --config; flags override variables, and variables override keys.

SIGHUP loads the settings again. The log names each one that has changed, also
those that need a restart. If a setting is wrong, all stay as they are.`,
		Example: `  hammr jobmaster --id m1 --dir /var/lib/hammr --token-file /etc/hammr/token
  hammr jobmaster --config /etc/hammr/jobmaster.yaml
  hammr jobmaster --id m2 --masters m1=a,m2=b,m3=c --cluster-id 1763700000000 \
    --dir /var/lib/hammr --token-file /etc/hammr/token`,
	}
	cmd = daemonCommand{
		config: &c,
		again:  func() daemon.Config { return new(masterd.Config) },
		open: func() (run, reload func(context.Context) error, err error) {
			c.Version = buildVersion()
			if c.DecisionsFile != "" {
				if c.Decisions, err = c.Log.Rotated("decisions-file", c.DecisionsFile); err != nil {
					return nil, nil, err
				}
			}
			d, err := masterd.Open(c)
			return d.Run, func(ctx context.Context) error { return d.Reload(ctx, c) }, err
		},
	}.withSettings(cmd)
	completes(cmd, "policy", registry.Names())
	return cmd
}

// buildVersion returns the version that clients receive: that of Hammr, or else the version that Go
// records of the main module; "" means unknown.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return cmp.Or(releaseOf(version, *info), info.Main.Version)
	}
	return version
}
