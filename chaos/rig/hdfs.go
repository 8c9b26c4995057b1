package rig

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"syscall"

	"github.com/hammr/hammr/internal/ops/minihdfs"
)

// NameNode is the name of the NameNode.
const NameNode = "namenode"

// hdfsDaemons are the daemons of an HDFS, or none if cluster is nil. They implement
// testcluster.Control for the names for which has returns true.
type hdfsDaemons struct{ cluster *minihdfs.Cluster }

// find returns the daemon of a name, nil for none.
func (h hdfsDaemons) find(name string) minihdfs.Daemon {
	if h.cluster == nil {
		return nil
	}
	if name == NameNode {
		return h.cluster.NameNode()
	}
	if d := h.dataNode(name); d != nil {
		return d
	}
	return nil
}

// dataNode returns the DataNode of a name: dn1, dn2, …; nil for none.
func (h hdfsDaemons) dataNode(name string) *minihdfs.DataNode {
	digits, isDataNode := strings.CutPrefix(name, "dn")
	n, err := strconv.Atoi(digits)
	if h.cluster == nil || !isDataNode || err != nil || n < 1 || n > h.cluster.DataNodes() {
		return nil
	}
	return h.cluster.DataNode(n - 1)
}

func (h hdfsDaemons) has(name string) bool { return h.find(name) != nil }

// Running implements testcluster.Control.
func (h hdfsDaemons) Running(name string) bool { return h.find(name).Runs() }

// Kill implements testcluster.Control.
func (h hdfsDaemons) Kill(_ context.Context, name string) error { return h.find(name).Kill() }

// Start implements testcluster.Control.
func (h hdfsDaemons) Start(ctx context.Context, names ...string) (err error) {
	for _, name := range names {
		err = errors.Join(err, h.find(name).Restart(ctx))
	}
	return err
}

// Signal implements testcluster.Control.
func (h hdfsDaemons) Signal(_ context.Context, name string, sig syscall.Signal) error {
	d := h.find(name)
	switch {
	case !d.Runs():
		return nil
	case sig == syscall.SIGSTOP:
		return d.Stop()
	}
	return d.Continue()
}
