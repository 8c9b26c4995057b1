package rig

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"syscall"

	"github.com/hammr/hammr/internal/minihdfs"
)

// NameNode is the name of the NameNode.
const NameNode = "namenode"

// hdfsDaemons are the daemons of an HDFS, or none if cluster is nil. They implement
// testcluster.Control for names of which has is true.
type hdfsDaemons struct{ cluster *minihdfs.Cluster }

// isNameNode is the number that find has for the NameNode.
const isNameNode = -1

// find is the number of a DataNode from 0, or isNameNode.
func (h hdfsDaemons) find(name string) (i int, ok bool) {
	if h.cluster == nil {
		return 0, false
	}
	if name == NameNode {
		return isNameNode, true
	}
	digits, isDataNode := strings.CutPrefix(name, "dn")
	n, err := strconv.Atoi(digits)
	return n - 1, isDataNode && err == nil && n >= 1 && n <= h.cluster.DataNodes()
}

func (h hdfsDaemons) has(name string) bool {
	_, ok := h.find(name)
	return ok
}

// Running implements testcluster.Control.
func (h hdfsDaemons) Running(name string) bool {
	if i, _ := h.find(name); i != isNameNode {
		return h.cluster.DataNodeRuns(i)
	}
	return h.cluster.NameNodeRuns()
}

// Kill implements testcluster.Control.
func (h hdfsDaemons) Kill(_ context.Context, name string) error {
	if i, _ := h.find(name); i != isNameNode {
		return h.cluster.KillDataNode(i)
	}
	return h.cluster.KillNameNode()
}

// Start implements testcluster.Control.
func (h hdfsDaemons) Start(ctx context.Context, names ...string) (err error) {
	for _, name := range names {
		if i, _ := h.find(name); i != isNameNode {
			err = errors.Join(err, h.cluster.RestartDataNode(ctx, i))
		} else {
			err = errors.Join(err, h.cluster.RestartNameNode(ctx))
		}
	}
	return err
}

// Signal implements testcluster.Control.
func (h hdfsDaemons) Signal(_ context.Context, name string, sig syscall.Signal) error {
	if !h.Running(name) {
		return nil
	}
	i, _ := h.find(name)
	switch stop := sig == syscall.SIGSTOP; {
	case i == isNameNode && stop:
		return h.cluster.StopNameNode()
	case i == isNameNode:
		return h.cluster.ContinueNameNode()
	case stop:
		return h.cluster.StopDataNode(i)
	}
	return h.cluster.ContinueDataNode(i)
}
