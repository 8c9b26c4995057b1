package sshcluster

import (
	"errors"
	"fmt"
	"maps"
	"path"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/ops/minihdfs"
)

// chooseYarn gives roles of YARN to machines if the hostfile wants a YARN.
func (p *Plan) chooseYarn(f hostfile.File) {
	if f.Cluster[hostfile.Yarn] != "true" {
		return
	}
	if p.resourceManager() == nil {
		p.Hosts[0].ResourceManager = true
	}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		h.NodeManager = h.NodeManager || h.Tasknode
	}
}

// resourceManager returns the host of the ResourceManager, nil if the cluster has no YARN.
func (p *Plan) resourceManager() *Host {
	return p.find(func(h *Host) bool { return h.ResourceManager })
}

// leastTaskMemory is enough for the JVM of a small task, in MiB.
const leastTaskMemory = 128

// validateYarn reports wrong numbers of daemons of YARN, and tasks that would be too small.
func (p *Plan) validateYarn() error {
	managers, nodes, memory := p.count(hostfile.ResourceManager), p.count(hostfile.NodeManager), p.taskMemory()
	switch {
	case managers > 1:
		return fmt.Errorf("%d machines have a ResourceManager; a YARN has one", managers)
	case managers == 1 && nodes == 0:
		return errors.New("no machine has a NodeManager; write the role nodemanager on some lines")
	case managers == 0 && nodes > 0:
		return errors.New("machines have a NodeManager and none has a ResourceManager; write the role resourcemanager on a line")
	case managers == 1 && p.nameNode() == nil:
		return errors.New("YARN needs an HDFS of the cluster's own; give --with-hdfs, or write hdfs=true on a line with a star")
	case memory > 0 && memory < leastTaskMemory:
		return fmt.Errorf("a task of YARN would have %d MiB of memory and needs %d; give the machines fewer slots= or more yarn-memory=", memory, leastTaskMemory)
	}
	return nil
}

// taskMemory returns the memory of a container in MiB, so that each NodeManager has enough for
// as many maps as its machine has map slots, and as many reduces. It is 0 until Look.
func (p *Plan) taskMemory() (least int) {
	for i := range p.Hosts {
		if h := &p.Hosts[i]; h.NodeManager && h.Slots > 0 {
			if memory := h.YarnMemory / minihdfs.Containers(h.Slots); least == 0 || memory < least {
				least = memory
			}
		}
	}
	return least
}

// yarnProperties are properties of all daemons and clients of YARN. The class path of tasks is
// that of their NodeManager: machines have different directories.
func (p *Plan) yarnProperties() map[string]string {
	m := p.resourceManager()
	if m == nil {
		return nil
	}
	properties := minihdfs.YarnProperties(p.taskMemory(), "$HADOOP_CONF_DIR,$HADOOP_YARN_HOME/*", "")
	for name, port := range map[string]int{
		"address": resourceManagerPort, "resource-tracker.address": trackerPort, "scheduler.address": schedulerPort,
		"admin.address": managerAdminPort, "webapp.address": resourceManagerPagePort,
	} {
		properties["yarn.resourcemanager."+name] = join(m.Address, m.Port+port)
	}
	return properties
}

// nodeProperties are properties of the daemons of YARN on a host.
func (p *Plan) nodeProperties(h *Host, listen string) map[string]string {
	if p.resourceManager() == nil {
		return nil
	}
	files := path.Join(h.Dir, "hadoop/nodemanager")
	properties := minihdfs.NodeProperties(h.Slots, h.YarnMemory)
	maps.Copy(properties, map[string]string{
		"yarn.resourcemanager.bind-host":     listen,
		"yarn.nodemanager.hostname":          h.Address,
		"yarn.nodemanager.bind-host":         listen,
		"yarn.nodemanager.address":           join(h.Address, h.Port+nodeManagerPort),
		"yarn.nodemanager.localizer.address": join(h.Address, h.Port+localizerPort),
		"yarn.nodemanager.webapp.address":    join(h.Address, h.Port+nodeManagerPagePort),
		"yarn.nodemanager.local-dirs":        path.Join(files, "local"),
		"yarn.nodemanager.log-dirs":          path.Join(files, "logs"),
	})
	return properties
}
