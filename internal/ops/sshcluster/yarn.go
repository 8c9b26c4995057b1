package sshcluster

import (
	"maps"
	"path"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/ops/minihdfs"
)

// resourceManager returns the host of the ResourceManager, nil if the cluster has no YARN.
func (p *Plan) resourceManager() *Host {
	return p.find(func(h *Host) bool { return h.has(hostfile.ResourceManager) })
}

// taskMemory returns the memory of a container in MiB, so that each NodeManager has enough for
// as many maps as its machine has map slots, and as many reduces. It is very large until Look.
func (p *Plan) taskMemory() int {
	least := 1 << 24
	for i := range p.Hosts {
		if h := &p.Hosts[i]; h.has(hostfile.NodeManager) && h.YarnMemory > 0 && h.Slots > 0 {
			least = min(least, h.YarnMemory/minihdfs.Containers(h.Slots))
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
