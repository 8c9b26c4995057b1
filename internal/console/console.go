// Package console is what a user sees of a job while it runs and when it ends:
// the lines that Hadoop's client prints, with the same words behind the same
// prefix, so that eyes and scripts that know Hadoop find what they look for.
// All of it goes to one writer, by custom stderr; stdout is left to the results
// of programs.
//
// The caller tells what happens, in any order and from any goroutine:
//
//	c := console.New(console.Options{Err: os.Stderr, Terminal: console.IsTerminal(os.Stderr)})
//	c.TotalInputFiles(1)
//	c.Splits(4)
//	c.Running(jobID)
//	stop := c.Live()
//	c.Progress(console.Progress{Map: 0.5, …}) // whenever it has changed
//	stop()
//	c.Completed(jobID)
//	c.Counters(values)
//
// Piped, progress is a line " map 50% reduce 0%" whenever a percentage changes.
// On a terminal it is a bar on the last line, which the other lines push down.
// Quiet leaves errors alone.
package console

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Options say how a Console shows things.
type Options struct {
	// Err takes every line; nil throws them away.
	Err io.Writer
	// Terminal tells that Err is a terminal that understands ANSI escapes.
	Terminal bool
	// Quiet shows errors only.
	Quiet bool
	// Now is the clock of the line prefix and of the rate; nil is time.Now.
	Now func() time.Time
	// Width is the terminal's width in columns; nil, or a result of 0 or less,
	// is 80.
	Width func() int
}

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

// Level is how grave a line is, by log4j's names.
type Level string

const (
	Info  Level = "INFO"
	Warn  Level = "WARN"
	Error Level = "ERROR"
)

// Class is the part of Hadoop that a line seems to come from.
type Class string

const (
	ClassJob         Class = "mapreduce.Job"
	ClassSubmitter   Class = "mapreduce.JobSubmitter"
	ClassInputFormat Class = "input.FileInputFormat"
	ClassDeprecation Class = "Configuration.deprecation"
)

// Console shows one job at a time. Its methods may be called by several
// goroutines at once. Live starts one, which its caller stops.
type Console struct {
	opts Options

	mu struct {
		sync.Mutex
		shown string // percentages of the latest progress line
		bar   bar
		last  *Progress // nil until the job has made some
	}
}

// New makes a Console.
func New(o Options) *Console {
	o.ensureDefaults()
	return &Console{opts: o}
}

// Log shows one line behind Hadoop's prefix:
//
//	2026-11-21 11:14:22,123 INFO mapreduce.Job: text
//
// A text of several lines has the prefix on its first.
func (c *Console) Log(level Level, class Class, text string) {
	if c.opts.Quiet && level != Error {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logLocked(level, class, text)
}

func (c *Console) logLocked(level Level, class Class, text string) {
	stamp := c.opts.Now().Format("2006-01-02 15:04:05,000")
	c.writeLocked(fmt.Sprintf("%s %s %s: %s\n", stamp, level, class, clean(text)))
}

// writeLocked puts text above the bar. Errors of a console have nobody to tell.
func (c *Console) writeLocked(text string) {
	_, _ = io.WriteString(c.opts.Err, c.mu.bar.erase()+text)
}

func (c *Console) info(class Class, format string, args ...any) {
	c.Log(Info, class, fmt.Sprintf(format, args...))
}
