package rig

import (
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/minihdfs"
)

// NameNode is the name of the NameNode.
const NameNode = "namenode"

// hadoop is whether a name is one of HDFS, and which: the number of a DataNode
// from 0, or -1 for the NameNode.
func (r *Rig) hadoop(name string) (hdfs *minihdfs.Cluster, i int, ok bool) {
	if r.cfg.HDFS == nil {
		return nil, 0, false
	}
	if name == NameNode {
		return r.cfg.HDFS, -1, true
	}
	digits, is := strings.CutPrefix(name, "dn")
	n, err := strconv.Atoi(digits)
	if !is || err != nil || n < 1 || n > r.cfg.HDFS.DataNodes() {
		return nil, 0, false
	}
	return r.cfg.HDFS, n - 1, true
}
