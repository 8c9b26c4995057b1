package daemon

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"gopkg.in/natefinch/lumberjack.v2"
)

// LogConfig says what a daemon logs, in which format and where.
//
// The daemon itself rotates a log file, since a machine may have no program for that.
type LogConfig struct {
	Format  string // text or json
	Level   string // debug, info, warn or error
	File    string // "" for stderr
	MaxSize int64  // size of File, in whole MiB, at which it is rotated
	Keep    int    // rotated files to keep, at least 1

	level *slog.LevelVar // of the logger; nil before Logger
}

// Settings lists the settings of the log.
func (c *LogConfig) Settings() Settings {
	return Settings{
		Choice("log-format", &c.Format, "text", "`format` of the log: text or json", "text", "json"),
		Choice("log-level", &c.Level, "info", "least severe `level` of the log: debug, info, warn or error", "debug", "info", "warn", "error").Reloadable(),
		String("log-file", &c.File, "", "`file` of the log (default stderr)"),
		Size("log-max-size", &c.MaxSize, 64*mebibyte, mebibyte, "`size` at which the log file is rotated, at least 1m"),
		Int("log-keep", &c.Keep, 3, 1, "`number` of rotated log files to keep"),
	}
}

const mebibyte = 1 << 20

// Logger makes the log, on stderr unless LogConfig names a file. It returns an error if it
// cannot write the file.
//
// A log file has a goroutine that removes old files. It runs as long as the process.
//
// An unknown level or format is replaced by the default. Settings refuse such values
// earlier.
func (c *LogConfig) Logger(stderr io.Writer) (*slog.Logger, error) {
	w, err := c.open(stderr)
	if err != nil {
		return nil, err
	}
	c.level = new(slog.LevelVar)
	c.UseLevel()
	options := &slog.HandlerOptions{Level: c.level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return slog.New(slog.NewTextHandler(w, options)), nil
}

// UseLevel makes the logger use Level after a change of it.
func (c *LogConfig) UseLevel() {
	var level slog.Level // the zero value is info
	_ = level.UnmarshalText([]byte(c.Level))
	c.level.Set(level)
}

// open opens the log file at once, so that an error is reported at the start of the daemon
// and not at the first line.
func (c *LogConfig) open(stderr io.Writer) (io.Writer, error) {
	if c.File == "" {
		return stderr, nil
	}
	return c.Rotated("log-file", c.File)
}

// Rotated opens another file that is rotated like the log. The error names the setting.
func (c *LogConfig) Rotated(setting, file string) (io.Writer, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
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
