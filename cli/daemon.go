package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/kit/interrupt"
)

// settingFlag is a flag that records its value. A daemon's settings are set later, from all
// sources together: a flag overrides a variable, and a variable the file.
type settingFlag struct {
	setting daemon.Setting
	values  map[string]string
}

func (f settingFlag) String() string { return f.setting.Default }

// Type implements pflag.Value.
func (f settingFlag) Type() string {
	if f.setting.IsBool {
		return "bool"
	}
	return "value"
}

// Set implements pflag.Value.
func (f settingFlag) Set(text string) error {
	f.values[f.setting.Name] = text
	return nil
}

// daemonCommand is the command of a daemon.
type daemonCommand struct {
	config daemon.Config
	again  func() daemon.Config // makes a new configuration of the same daemon
	// open opens the daemon with the loaded settings. reload makes it use those settings that may change
	// while it runs.
	open func() (run, reload func(ctx context.Context) error, err error)
	// instead may do something else with the loaded settings, and then returns true; nil for never.
	instead func(stdout, stderr io.Writer) (done bool, err error)
}

// withSettings gives a command a flag for each setting and --config, and runs the daemon once
// the settings are loaded. Loading reports every wrong setting at once, with its source, as
// errors of the command line.
func (d daemonCommand) withSettings(cmd *cobra.Command) *cobra.Command {
	// values has only the flags that are given: defaults come from the settings.
	settings, values := d.config.Settings(), make(map[string]string)
	for _, s := range settings {
		flag := cmd.Flags().VarPF(settingFlag{s, values}, s.Name, "", s.Usage)
		if s.IsBool {
			flag.NoOptDefVal = "true"
		}
	}
	file := cmd.Flags().String("config", os.Getenv("HAMMR_CONFIG"), "YAML `file` with a key for each setting")
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		sources := daemon.Sources{Flags: values, Env: os.LookupEnv, File: *file}
		if err := settings.Load(sources); err != nil {
			return err
		}
		reload := &daemon.Reloader{InUse: settings, Load: func() (daemon.Settings, error) {
			next := d.again()
			return next.Settings(), daemon.Load(next, sources)
		}}
		reload.Catch()
		return untilDaemonSignal(func(ctx context.Context) error {
			if d.instead != nil {
				if done, err := d.instead(cmd.OutOrStdout(), cmd.ErrOrStderr()); done {
					return err
				}
			}
			return d.run(ctx, cmd.ErrOrStderr(), reload)
		})
	}
	return cmd
}

// loadSite loads the site's configuration. A wrong site file must not hide wrong settings: both are
// reported.
func loadSite(c daemon.Config, stderr io.Writer) (err error) {
	if c.Base().Conf, err = (genericOptions{}).load(stderr); err != nil {
		return errors.Join(err, c.Validate())
	}
	return nil
}

// run opens the log and runs the daemon until ctx ends. SIGHUP reloads its settings: those in use
// point into the configuration, so that it has the new values when they are applied.
func (d daemonCommand) run(ctx context.Context, stderr io.Writer, reload *daemon.Reloader) error {
	c := d.config.Base()
	return withLogger(&c.Log, stderr, func(logger *slog.Logger) error {
		c.Logger, c.Notifier = logger, daemon.NewNotifier(logger)
		if err := loadSite(d.config, stderr); err != nil {
			return err
		}
		run, apply, err := d.open()
		if err != nil {
			return err
		}
		reload.Logger, reload.Notifier = logger, c.Notifier
		reload.Apply = func(ctx context.Context) error {
			if err := apply(ctx); err != nil {
				return err
			}
			c.Log.UseLevel()
			return nil
		}
		watching, stop := context.WithCancel(ctx)
		var watch sync.WaitGroup
		watch.Go(func() { reload.Run(watching) })
		defer watch.Wait()
		defer stop()
		return run(ctx)
	})
}

// untilSignal runs a daemon until SIGTERM or Ctrl-C. This end is a success, because an
// operator has stopped the daemon. A second signal ends the process at once.
func untilSignal(run func(ctx context.Context) error) error {
	ctx, stop := interrupt.Context(context.Background())
	defer stop()
	return until(ctx, run)
}

// untilDaemonSignal is untilSignal for a daemon, which reloads its settings at SIGHUP.
func untilDaemonSignal(run func(ctx context.Context) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return until(ctx, run)
}

// until runs a command that ctx ends, which is no error.
func until(ctx context.Context, run func(ctx context.Context) error) error {
	if err := run(ctx); err != nil && !(ctx.Err() != nil && errors.Is(err, context.Canceled)) {
		return runError{err}
	}
	return nil
}

// withLogger runs a daemon with its log. main prints the error on stderr. withLogger also
// writes it to a log file, which otherwise would not show why the daemon ended. An end by
// signal is no error.
func withLogger(cfg *daemon.LogConfig, stderr io.Writer, run func(logger *slog.Logger) error) error {
	logger, err := cfg.Logger(stderr)
	if err != nil {
		return err
	}
	if err = run(logger); err != nil && cfg.File != "" && !errors.Is(err, context.Canceled) {
		logger.Error("daemon failed", "error", err)
	}
	return err
}
