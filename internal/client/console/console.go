// Package console prints the progress and the result of a job for the user. Its lines have
// the format and the words of Hadoop's client, so that people and scripts that know Hadoop
// recognize them. All lines go to one writer, usually stderr; stdout is for the output of
// programs.
//
// The caller reports events, in any order and from any goroutine:
//
//	c := console.New(console.Options{Err: os.Stderr, Terminal: console.IsTerminal(os.Stderr)})
//	c.TotalInputFiles(1)
//	c.Splits(4)
//	c.Running(jobID)
//	stop := c.StartRefresh()
//	c.Progress(console.Progress{Map: 0.5, …}) // whenever it has changed
//	stop()
//	c.Completed(jobID)
//	c.Counters(values)
//
// If Err is not a terminal, progress is a line " map 50% reduce 0%" whenever a percentage
// changes. On a terminal it is a bar on the last line, below the other lines. Quiet prints
// errors only.
package console

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Options configure a Console.
type Options struct {
	// Err takes every line; nil discards them.
	Err io.Writer
	// Terminal means that Err understands ANSI escapes.
	Terminal bool
	// Quiet shows errors only.
	Quiet bool
	// Now is the clock of the line prefix and of the rate; nil is time.Now.
	Now func() time.Time
	// Width is the terminal's width in columns; nil, or a result of 0 or less,
	// is 80.
	Width func() int
}

// ensureDefaults replaces unset fields by the defaults that their comments name.
func (o *Options) ensureDefaults() {
	if o.Err == nil {
		o.Err = io.Discard
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Width == nil {
		o.Width = func() int { return 0 }
	}
}

// Level is the severity of a line, by log4j's names.
type Level string

const (
	Info  Level = "INFO"
	Warn  Level = "WARN"
	Error Level = "ERROR"
)

// Class is the class of Hadoop that prints such a line.
type Class string

const (
	ClassJob         Class = "mapreduce.Job"
	ClassSubmitter   Class = "mapreduce.JobSubmitter"
	ClassInputFormat Class = "input.FileInputFormat"
	ClassDeprecation Class = "Configuration.deprecation"
)

// Console shows one job at a time. Its methods are safe for concurrent use. StartRefresh
// starts a goroutine; its caller stops the goroutine.
type Console struct {
	opts Options

	mu struct {
		sync.Mutex
		shown string // percentages of the latest progress line
		bar   bar
		last  *Progress // nil until the first Progress
	}
}

// New makes a Console.
func New(o Options) *Console {
	o.ensureDefaults()
	return &Console{opts: o}
}

// Log prints one line with Hadoop's prefix:
//
//	2026-11-21 11:14:22,123 INFO mapreduce.Job: text
//
// In a text of several lines, only the first has the prefix.
func (c *Console) Log(level Level, class Class, text string) {
	if c.opts.Quiet && level != Error {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logLocked(level, class, text)
}

// logLocked prints a line with a stamp of local time, in log4j's default layout.
func (c *Console) logLocked(level Level, class Class, text string) {
	stamp := c.opts.Now().Format("2006-01-02 15:04:05,000")
	c.writeLocked(fmt.Sprintf("%s %s %s: %s\n", stamp, level, class, clean(text)))
}

// writeLocked prints text above the bar. It ignores errors: there is no other place to
// report them.
func (c *Console) writeLocked(text string) {
	_, _ = io.WriteString(c.opts.Err, c.mu.bar.erase()+text)
}

// info prints a formatted line at level INFO, the level of most lines of Hadoop.
func (c *Console) info(class Class, format string, args ...any) {
	c.Log(Info, class, fmt.Sprintf(format, args...))
}
