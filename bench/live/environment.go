package live

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/bench"
	"github.com/hammr/hammr/internal/kit/jsonfile"
)

// Environment describes the machine, the version and the settings of a run. A value that the
// system does not report is empty. Results of a real cluster need this description: the same
// experiment on a loaded machine, or on another kernel, gives other times.
type Environment struct {
	bench.Machine
	Loads         string            `json:"loads"` // of 1, 5 and 15 minutes, before the run
	Disk          string            `json:"disk"`  // file system of the clusters, and whether the disk rotates
	Version       string            `json:"version"`
	Time          time.Time         `json:"time"`
	Configuration map[string]string `json:"configuration,omitempty"`
	Hosts         []Host            `json:"hosts,omitempty"` // machines of the clusters, if they are others
}

// EnvironmentOf describes this machine, for clusters in an existing directory. Call it
// before a run, since the run itself raises the load.
func EnvironmentOf(dir string, configuration map[string]string) Environment {
	return Environment{
		Machine: bench.ThisMachine(), Loads: bench.Loads(), Disk: diskOf(dir),
		Version: version(), Time: time.Now().UTC().Truncate(time.Second), Configuration: configuration,
	}
}

// version returns the version and the revision of this program. Runners compare it, so that
// trials of another version are run again.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += " " + s.Value
		}
	}
	return v
}

// Write writes environment.json into a directory.
func (e Environment) Write(dir string) error {
	return jsonfile.Write(filepath.Join(dir, "environment.json"), e, 0o666)
}

// Markdown returns the environment as a list. An empty value is shown as unknown.
func (e Environment) Markdown() string {
	var b strings.Builder
	for _, line := range [][2]string{
		{"CPU", fmt.Sprintf("%s, %d cores", cmp.Or(e.CPU, "unknown"), e.Cores)}, {"memory", fmt.Sprintf("%d MiB", e.MemBytes>>20)}, {"kernel", e.Kernel},
		{"disk", e.Disk}, {"Go", e.Go}, {"version", e.Version}, {"load before the first run", e.Loads + e.busy()}, {"time", e.Time.Format(time.RFC3339)},
	} {
		fmt.Fprintf(&b, "- %s: %s\n", line[0], cmp.Or(line[1], "unknown"))
	}
	for _, h := range e.Hosts {
		fmt.Fprintf(&b, "- host %s: %s, %d cores, %d MiB, %s, disk %s at %d MB/s", h.Name, cmp.Or(h.CPU, "unknown"), h.Cores, h.MemBytes>>20, h.Kernel, h.Disk, h.DiskRate/1e6)
		if h.Link != nil {
			fmt.Fprintf(&b, "; to %s %d µs and %d MB/s", h.Link.To, h.Link.RTT, h.Link.Rate/1e6)
		}
		fmt.Fprintf(&b, "; load %s%s\n", h.Loads, h.busy())
	}
	return b.String()
}

// idleLoad is the load of a core above which other programs disturb a measurement.
const idleLoad = 0.5

// busy marks a start on a machine that was not idle.
func (e Environment) busy() string {
	if e.Load <= idleLoad*float64(e.Cores) {
		return ""
	}
	return " (not idle: above 0.5 a core)"
}

// diskOf returns the file system of a directory, and whether its disk rotates. The device
// number of the directory is looked up among the mounts of this process.
func diskOf(dir string) string {
	var s syscall.Stat_t
	if err := syscall.Stat(dir, &s); err != nil {
		return ""
	}
	number := fmt.Sprintf("%d:%d", s.Dev>>8&0xfff, s.Dev&0xff|s.Dev>>12&0xfff00)
	for line := range strings.Lines(bench.ContentOf("/proc/self/mountinfo")) {
		mount, kind, _ := strings.Cut(line, " - ")
		if fields := strings.Fields(mount); len(fields) > 2 && fields[2] == number {
			return strings.Join(strings.Fields(kind)[:1], "") + rotational(number)
		}
	}
	return ""
}

// rotational returns, in words, whether the disk of a device rotates. It returns "" for a
// file system without a device of its own.
func rotational(number string) string {
	for _, up := range []string{"", ".."} { // the disk of a partition is its parent
		switch bench.ContentOf(filepath.Join("/sys/dev/block", number, up, "queue/rotational")) {
		case "0":
			return ", does not turn"
		case "1":
			return ", turns"
		}
	}
	return ""
}
