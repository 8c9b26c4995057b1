package minihdfs

import (
	"context"
	"net"
)

// History server's ports at the address of the ResourceManager.
const (
	historyWebPort = "19888"
	historyRPCPort = "10020"
	historyAdmin   = "10033"
)

// HistoryServer is Hadoop's JobHistoryServer.
type HistoryServer struct{ daemon *daemon }

// StartHistoryServer starts a JobHistoryServer and returns when it answers. It reads the histories
// in a directory of HDFS, and moves them into the directory of that name with -done; "" is the
// directory in which jobs of y leave them. The caller closes the server before YARN.
func (y *Yarn) StartHistoryServer(ctx context.Context, dir string) (*HistoryServer, error) {
	if dir == "" {
		dir = historyDir
	}
	host := y.hdfs.network + ".1"
	base := program{logs: y.Logs(), java: y.java, starter: y.starter}
	d := &daemon{program: base.of("historyserver", "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer",
		"mapreduce.jobhistory.address="+net.JoinHostPort(host, historyRPCPort),
		"mapreduce.jobhistory.admin.address="+net.JoinHostPort(host, historyAdmin),
		"mapreduce.jobhistory.webapp.address="+net.JoinHostPort(host, historyWebPort),
		"mapreduce.jobhistory.intermediate-done-dir="+dir,
		"mapreduce.jobhistory.done-dir="+dir+"-done",
		"mapreduce.jobhistory.move.interval-ms=500",
		"mapreduce.jobhistory.max-age-ms=9000000000000", // histories of tests may be old
	)}
	if err := d.start(); err != nil {
		return nil, err
	}
	err := d.await(ctx, func(ctx context.Context) error { return checkOpen(ctx, y.HistoryAddress()) })
	if err != nil {
		_ = d.Kill() // the first error matters
		return nil, err
	}
	return &HistoryServer{d}, nil
}

// Close ends the server.
func (h *HistoryServer) Close() error { return h.daemon.Kill() }

// HistoryAddress returns host:port of the pages of the JobHistoryServer.
func (y *Yarn) HistoryAddress() string { return y.address(historyWebPort) }

// WebAddress returns host:port of the pages of the ResourceManager.
func (y *Yarn) WebAddress() string { return y.address("8088") }
