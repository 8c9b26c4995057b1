package testcluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Logs returns the directory of the daemons' logs.
func (c *Cluster) Logs() string { return filepath.Join(c.dir, "logs") }

// Histories returns the directory in which masters keep the histories of jobs.
func (c *Cluster) Histories() string { return filepath.Join(c.dir, "history") }

// LogEnds returns the last bytes of each daemon's log, size of each, for people. Tests print it
// when they fail, since the directory is removed afterwards.
func (c *Cluster) LogEnds(size int) string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(c.Logs(), "*")) // the pattern is valid
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || len(text) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:\n%s\n", filepath.Base(file), text[max(0, len(text)-size):])
	}
	return b.String()
}

// Processes returns the processes, with their command lines, that have the cluster's
// directory on their command lines: its daemons and tasks. After Close of a cluster
// that was started here, there is none.
func (c *Cluster) Processes() (lines []string) {
	if c.dir == "" {
		return nil
	}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is valid
	for _, file := range files {
		line, err := os.ReadFile(file)
		pid := filepath.Base(filepath.Dir(file))
		if err == nil && strings.Contains(string(line), c.dir+"/") && pid != fmt.Sprint(os.Getpid()) {
			lines = append(lines, pid+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return lines
}
