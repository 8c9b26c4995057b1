package raftlog

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// logger passes Raft's log lines to slog.
type logger struct {
	to    *slog.Logger
	name  string
	given []any // by With; returned by ImpliedArgs
}

var _ hclog.Logger = logger{}

func newLogger(to *slog.Logger) logger { return logger{to: to} }

// levels maps hclog's levels, from Trace on, to slog's.
var levels = [...]slog.Level{
	hclog.Trace: slog.LevelDebug - 4, hclog.Debug: slog.LevelDebug, hclog.Info: slog.LevelInfo,
	hclog.Warn: slog.LevelWarn, hclog.Error: slog.LevelError,
}

// Log passes on a line. A level without counterpart becomes Info.
func (l logger) Log(level hclog.Level, msg string, args ...any) {
	at := slog.LevelInfo
	if level >= hclog.Trace && int(level) < len(levels) {
		at = levels[level]
	}
	if level == hclog.Off || !l.to.Enabled(context.Background(), at) {
		return
	}
	l.to.Log(context.Background(), at, msg, plain(args)...)
}

// plain formats the values that only hclog can format.
func plain(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		if f, ok := arg.(hclog.Format); ok && len(f) > 0 {
			out[i] = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
			continue
		}
		out[i] = arg
	}
	return out
}

func (l logger) Trace(msg string, args ...any) { l.Log(hclog.Trace, msg, args...) }
func (l logger) Debug(msg string, args ...any) { l.Log(hclog.Debug, msg, args...) }
func (l logger) Info(msg string, args ...any)  { l.Log(hclog.Info, msg, args...) }
func (l logger) Warn(msg string, args ...any)  { l.Log(hclog.Warn, msg, args...) }
func (l logger) Error(msg string, args ...any) { l.Log(hclog.Error, msg, args...) }

func (l logger) is(level hclog.Level) bool {
	return l.to.Enabled(context.Background(), levels[level])
}

func (l logger) IsTrace() bool { return l.is(hclog.Trace) }
func (l logger) IsDebug() bool { return l.is(hclog.Debug) }
func (l logger) IsInfo() bool  { return l.is(hclog.Info) }
func (l logger) IsWarn() bool  { return l.is(hclog.Warn) }
func (l logger) IsError() bool { return l.is(hclog.Error) }

func (l logger) ImpliedArgs() []any { return l.given }
func (l logger) Name() string       { return l.name }

func (l logger) With(args ...any) hclog.Logger {
	given := append(l.given[:len(l.given):len(l.given)], args...)
	return logger{to: l.to.With(plain(args)...), name: l.name, given: given}
}

func (l logger) Named(name string) hclog.Logger {
	if l.name != "" {
		name = l.name + "." + name
	}
	return l.ResetNamed(name)
}

func (l logger) ResetNamed(name string) hclog.Logger {
	return logger{to: l.to, name: name, given: l.given}
}

// SetLevel does nothing: the slog handler decides what is shown.
func (l logger) SetLevel(hclog.Level) {}

func (l logger) GetLevel() hclog.Level {
	for level := hclog.Trace; level <= hclog.Error; level++ {
		if l.is(level) {
			return level
		}
	}
	return hclog.Off
}

func (l logger) StandardLogger(*hclog.StandardLoggerOptions) *log.Logger {
	return slog.NewLogLogger(l.to.Handler(), slog.LevelInfo)
}

func (l logger) StandardWriter(opts *hclog.StandardLoggerOptions) io.Writer {
	return l.StandardLogger(opts).Writer()
}
