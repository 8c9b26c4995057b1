package daemon

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"

	"gopkg.in/natefinch/lumberjack.v2"
)

// LogConfig says what a daemon logs, in which format and where.
//
// A log in a file is rotated by the daemon itself, since a machine may have no program
// that does.
type LogConfig struct {
	Format  string // text or json; default text
	Level   string // debug, info, warn or error; default info
	File    string // default none: the log goes to stderr
	MaxSize int64  // bytes of File, in whole MiB, after which it is rotated; default 64 MiB
	Keep    int    // rotated files to keep, at least 1; default 3
}

// Settings returns the settings of the log. They set defaults in c.
func (c *LogConfig) Settings() Settings {
	c.Format, c.Level = cmp.Or(c.Format, "text"), cmp.Or(c.Level, "info")
	c.MaxSize, c.Keep = cmp.Or(c.MaxSize, 64*mebibyte), cmp.Or(c.Keep, 3)
	return Settings{
		Choice("log-format", &c.Format, "`format` of the log: text or json", "text", "json"),
		Choice("log-level", &c.Level, "least severe `level` of the log: debug, info, warn or error", "debug", "info", "warn", "error"),
		String("log-file", &c.File, "`file` of the log (default stderr)"),
		Size("log-max-size", &c.MaxSize, "`size` at which the log file is rotated, at least 1m"),
		Int("log-keep", &c.Keep, 1, "`number` of rotated log files to keep"),
	}
}

const mebibyte = 1 << 20

// Logger makes the log, on stderr unless it has a file. It fails if the file cannot be
// written.
//
// The log of a file has a goroutine that removes old files. It lives as long as the process.
//
// A level or format that is not known becomes the default; Settings refuse such values
// before.
func (c *LogConfig) Logger(stderr io.Writer) (*slog.Logger, error) {
	w, err := c.open(stderr)
	if err != nil {
		return nil, err
	}
	var level slog.Level // info
	_ = level.UnmarshalText([]byte(c.Level))
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return slog.New(slog.NewTextHandler(w, options)), nil
}

// open opens the log's file, so that an error shows at the start and not at the first line.
func (c *LogConfig) open(stderr io.Writer) (io.Writer, error) {
	if c.File == "" {
		return stderr, nil
	}
	return c.Rotated("log-file", c.File)
}

// Rotated opens another file that is rotated like the log. The error names the setting.
func (c *LogConfig) Rotated(setting, file string) (io.Writer, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", setting, err)
	}
	return &lumberjack.Logger{
		Filename: file, MaxSize: max(1, int((c.MaxSize+mebibyte-1)/mebibyte)), MaxBackups: max(1, c.Keep),
	}, nil
}
