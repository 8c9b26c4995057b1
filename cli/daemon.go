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
	"github.com/hammr/hammr/internal/interrupt"
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

// daemonFlags is the configuration of a daemon.
type daemonFlags interface {
	// settings sets all defaults, and lists the settings, which are stored in the receiver.
	settings() daemon.Settings
	// Validate reports every error of the configuration at once.
	Validate() error
	// again returns a new configuration of the same daemon.
	again() daemonFlags
	// run runs the daemon with the loaded settings until ctx ends. It completes reload.
	run(ctx context.Context, cmd *cobra.Command, reload *daemon.Reloader) error
}

// withSettings gives a command a flag for each setting and --config, and runs the daemon once
// the settings are loaded. Loading reports every wrong setting at once, with its source, as
// errors of the command line.
func withSettings(cmd *cobra.Command, c daemonFlags) *cobra.Command {
	// values has only the flags that are given: defaults come from the settings.
	settings, values := c.settings(), make(map[string]string)
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
		reload := &daemon.Reloader{InUse: settings, Load: func() (daemon.Settings, error) { return loadAgain(c, sources) }}
		reload.Catch()
		return untilDaemonSignal(func(ctx context.Context) error { return c.run(ctx, cmd, reload) })
	}
	return cmd
}

// loadAgain loads the settings of a daemon into a new configuration, and checks it.
func loadAgain(c daemonFlags, sources daemon.Sources) (daemon.Settings, error) {
	next := c.again()
	settings := next.settings()
	if err := settings.Load(sources); err != nil {
		return nil, err
	}
	return settings, next.Validate()
}

// reloadable is a daemon with a configuration C.
type reloadable[C any] interface {
	Run(ctx context.Context) error
	Reload(ctx context.Context, cfg C) error
}

// reloading runs a daemon, which reloads its settings at SIGHUP. The settings in use point into
// cfg and log, so that these have the new values when they are applied.
func reloading[C any](ctx context.Context, reload *daemon.Reloader, d reloadable[C], cfg *C, log *daemon.LogConfig) error {
	reload.Apply = func(ctx context.Context) error {
		if err := d.Reload(ctx, *cfg); err != nil {
			return err
		}
		log.UseLevel()
		return nil
	}
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { reload.Run(watching) })
	defer watch.Wait()
	defer stop()
	return d.Run(ctx)
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
