package raftlog

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// newLogger returns a logger for Raft that passes its lines to slog. The handler of slog
// decides which lines are shown. The logger itself writes nothing.
func newLogger(to *slog.Logger) hclog.Logger {
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{Level: hclog.Off, Output: io.Discard})
	l.RegisterSink(slogSink{to})
	return l
}

// noLogger returns a logger that drops all lines, for work on a directory whose errors say
// everything.
func noLogger() hclog.Logger { return newLogger(slog.New(slog.DiscardHandler)) }

// levels maps the levels of hclog, from Trace on, to the levels of slog.
var levels = [...]slog.Level{
	hclog.Trace: slog.LevelDebug - 4, hclog.Debug: slog.LevelDebug, hclog.Info: slog.LevelInfo,
	hclog.Warn: slog.LevelWarn, hclog.Error: slog.LevelError,
}

// slogSink receives the lines of a hclog.Logger.
type slogSink struct{ to *slog.Logger }

// Accept implements hclog.SinkAdapter. args begin with the logger's implied arguments. A
// level that slog does not have becomes Info.
func (s slogSink) Accept(_ string, level hclog.Level, msg string, args ...any) {
	at := slog.LevelInfo
	if level >= hclog.Trace && int(level) < len(levels) {
		at = levels[level]
	}
	if level != hclog.Off && s.to.Enabled(context.Background(), at) {
		s.to.Log(context.Background(), at, msg, plain(args)...)
	}
}

// plain formats the values that only hclog can format.
func plain(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		out[i] = arg
		if f, ok := arg.(hclog.Format); ok && len(f) > 0 {
			out[i] = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
		}
	}
	return out
}
