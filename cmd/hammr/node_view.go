package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/faultrpc"
	"github.com/hammr/hammr/internal/wire"
)

// vitals is what the tasknode tells of its machine.
func (n *nodeDaemon) vitals() *wire.Report_Heartbeat {
	h := &wire.Report_Heartbeat{Clock: failpoint.Now().UnixMilli(), Load: load()}
	for i, state := range n.disks.States() {
		d := &wire.Report_Heartbeat_Directory{Path: n.cfg.localDirs[i], Free: state.Free, Total: state.Total}
		if state.Err != nil {
			d.Fault = state.Err.Error()
		}
		h.Directories = append(h.Directories, d)
	}
	h.MemoryAvailable, h.SwapFree = n.memory()
	return h
}

// memory is what tasks can still take of the machine's memory, and what of theirs can
// be swapped out, in bytes; 0 where that cannot be told. Control groups of version 2
// swap no task out.
func (n *nodeDaemon) memory() (available, swap int64) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	available, swap = memoryOf(string(text))
	if n.cgroup != "" {
		if _, err := os.Stat(filepath.Join(n.cgroup, "cgroup.controllers")); err == nil {
			swap = 0
		}
	}
	return available, swap
}

// memoryOf reads the text of /proc/meminfo.
func memoryOf(text string) (available, swap int64) {
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		switch {
		case err != nil:
		case name == "MemAvailable":
			available = kib << 10
		case name == "SwapFree":
			swap = kib << 10
		}
	}
	return available, swap
}

// load is the machine's load of the last minute, 0 where that cannot be told.
func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	value, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return value
}

// newPage is the tasknode's page.
func (n *nodeDaemon) newPage() http.Handler {
	return daemon.NewPage(daemon.PageConfig{
		Title: "tasknode " + n.cfg.name, Profiles: n.cfg.profiles, Metrics: []prometheus.Collector{&nodeMetrics{n}},
		Health: func(*http.Request) error { return n.disks.Check() },
		Handlers: map[string]http.Handler{
			"GET /logs/{attempt}/{stream}": &nodeLogs{n.taskDirs(), n.token},
			faultrpc.Path:                  drillsHandler(n.token, n.drills, n.logger),
		},
	})
}

// nodeMetrics are a tasknode's figures for Prometheus.
type nodeMetrics struct{ *nodeDaemon }

var (
	freeMetric     = metric("directory_free_bytes", "bytes left in a directory for local files", "directory")
	requestsMetric = metric("shuffle_requests_total", "requests for map output")
	bytesMetric    = metric("shuffle_sent_bytes_total", "bytes of map output sent")
	busyMetric     = metric("shuffle_busy_total", "requests told to come again")
	corruptMetric  = metric("shuffle_corrupt_total", "pieces of map output found bad on this machine's disks")
)

// Describe implements prometheus.Collector.
func (*nodeMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{freeMetric, requestsMetric, bytesMetric, busyMetric, corruptMetric} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *nodeMetrics) Collect(to chan<- prometheus.Metric) {
	for _, d := range c.vitals().Directories {
		to <- prometheus.MustNewConstMetric(freeMetric, prometheus.GaugeValue, float64(d.Free), d.Path)
	}
	counts := c.shuffle.Counts()
	for desc, n := range map[*prometheus.Desc]int64{
		requestsMetric: counts.Requests, bytesMetric: counts.Bytes, busyMetric: counts.Busy, corruptMetric: counts.Corrupt,
	} {
		to <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n))
	}
}
