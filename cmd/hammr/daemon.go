package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon"
)

// settingFlag is a flag of a daemon that only remembers what it was given: settings
// are taken over from all sources together.
type settingFlag struct {
	setting daemon.Setting
	values  map[string]string
}

func (g settingFlag) String() string { return g.setting.Default }

// Type implements pflag.Value.
func (g settingFlag) Type() string {
	if g.setting.IsBool {
		return "bool"
	}
	return "value"
}

// Set implements pflag.Value.
func (g settingFlag) Set(text string) error {
	g.values[g.setting.Name] = text
	return nil
}

// withSettings gives a command a flag for each setting, and one for a file with them,
// and has it run once they are settled.
func withSettings(cmd *cobra.Command, settings daemon.Settings, run func(ctx context.Context, cmd *cobra.Command) error) *cobra.Command {
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

// untilSignal runs a daemon until SIGTERM or Ctrl-C asks it to end, which is a
// success. A second signal ends the process at once.
func untilSignal(run func(ctx context.Context) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	if err := run(ctx); err != nil && !(ctx.Err() != nil && errors.Is(err, context.Canceled)) {
		return runError{err}
	}
	return nil
}

// withLogger runs a daemon with its log. A log in a file is told also what the daemon
// fails with, which main tells on stderr.
func withLogger(cfg daemon.LogConfig, stderr io.Writer, run func(logger *slog.Logger) error) error {
	logger, err := cfg.Logger(stderr)
	if err != nil {
		return err
	}
	if err = run(logger); err != nil && cfg.File != "" && !errors.Is(err, context.Canceled) {
		logger.Error("the daemon ends", "error", err)
	}
	return err
}

// listen listens on an address that a setting has given.
func listen(setting, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--%s %s: another process has the port; choose another, or end that process", setting, address)
	case err != nil:
		return nil, fmt.Errorf("--%s %s: %w", setting, address, err)
	}
	return l, nil
}

// advertised is where others reach a listener: its own host where it has one,
// else that of the machine.
func advertised(l net.Listener) (string, error) {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		return l.Addr().String(), nil
	}
	if host, err = os.Hostname(); err != nil {
		return "", fmt.Errorf("name of this machine, for others to reach it by: %w", err)
	}
	return net.JoinHostPort(host, port), nil
}

// withDefaultPort lets people give a host alone.
func withDefaultPort(address, port string) string {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return net.JoinHostPort(address, port)
	}
	return address
}

// servePage serves a daemon's page until stop is called, which waits for its
// goroutine.
func servePage(l net.Listener, page http.Handler) (stop func()) {
	server := &http.Server{Handler: page, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // it ends by Close
	}()
	return func() {
		server.Close()
		<-done
	}
}
