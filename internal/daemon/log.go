package daemon

import (
	"io"
	"log/slog"
)

// LogConfig says what a daemon logs and how.
type LogConfig struct {
	Format string // text or json; default text
	Level  string // debug, info, warn or error; default info
}

// Settings are the log's own.
func (c *LogConfig) Settings() Settings {
	if c.Format == "" {
		c.Format = "text"
	}
	if c.Level == "" {
		c.Level = "info"
	}
	return Settings{
		Choice("log-format", &c.Format, "`form` of the log: text or json", "text", "json"),
		Choice("log-level", &c.Level, "`least` grave lines of the log: debug, info, warn or error", "debug", "info", "warn", "error"),
	}
}

// Logger makes the log, on w.
func (c *LogConfig) Logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError}
	if level, ok := levels[c.Level]; ok {
		options.Level = level
	}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
