package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon"
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

// withSettings gives a command a flag for each setting and --config, and runs it once the
// settings are loaded. Loading reports every wrong setting at once, with its source, as errors
// of the command line.
func withSettings(cmd *cobra.Command, settings daemon.Settings, run func(ctx context.Context, cmd *cobra.Command) error) *cobra.Command {
	// values has only the flags that are given: defaults come from the settings.
	values := make(map[string]string)
	for _, s := range settings {
		flag := cmd.Flags().VarPF(settingFlag{s, values}, s.Name, "", s.Usage)
		if s.IsBool {
			flag.NoOptDefVal = "true"
		}
	}
	file := cmd.Flags().String("config", os.Getenv("HAMMR_CONFIG"), "YAML `file` with a key for each setting")
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := settings.Load(daemon.Sources{Flags: values, Env: os.LookupEnv, File: *file}); err != nil {
			return err
		}
		return untilSignal(func(ctx context.Context) error { return run(ctx, cmd) })
	}
	return cmd
}

// untilSignal runs a daemon until SIGTERM or Ctrl-C. This end is a success, because an
// operator has stopped the daemon. A second signal ends the process at once.
func untilSignal(run func(ctx context.Context) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	if err := run(ctx); err != nil && !(ctx.Err() != nil && errors.Is(err, context.Canceled)) {
		return runError{err}
	}
	return nil
}

// withLogger runs a daemon with its log. main prints the error on stderr. withLogger also
// writes it to a log file, which otherwise would not show why the daemon ended. An end by
// signal is no error.
func withLogger(cfg daemon.LogConfig, stderr io.Writer, run func(logger *slog.Logger) error) error {
	logger, err := cfg.Logger(stderr)
	if err != nil {
		return err
	}
	if err = run(logger); err != nil && cfg.File != "" && !errors.Is(err, context.Canceled) {
		logger.Error("daemon failed", "error", err)
	}
	return err
}
