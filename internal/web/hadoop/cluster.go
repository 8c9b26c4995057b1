package hadoop

import (
	"net"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// version is the version of Hadoop whose API this is.
const version = "3.4.3"

// SlotMB is the memory that a slot counts for, in MB: Hadoop's default for a map and for a reduce.
const SlotMB = 1024

// buildTime returns when the program's source was committed, "" if it is unknown.
var buildTime = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" {
				return s.Value
			}
		}
	}
	return ""
})

// haState returns the state of a master. A server that is no master is active if there is a leader.
func haState(leader, self string) string {
	if leader == "" || self != "" && self != leader {
		return "STANDBY"
	}
	return "ACTIVE"
}

// mastersOf returns the masters.
func mastersOf(c *Call) apidoc.Masters { return read(c, docs.Masters, docs.No{}) }

func clusterInfo(c *Call, m apidoc.Masters) *document {
	created, _ := strconv.ParseInt(m.Cluster, 10, 64) // the id is the time of the creation
	own := ""
	for _, master := range m.Masters {
		if master.Version != "" {
			own = master.Version
		}
	}
	return &document{root: "clusterInfo", body: object{
		{"id", created}, {"startedOn", created}, {"state", "STARTED"}, {"haState", haState(m.Leader, c.Self)},
		{"rmStateStoreName", "raft"}, {"resourceManagerVersion", version}, {"resourceManagerBuildVersion", version + " by hammr " + own},
		{"resourceManagerVersionBuiltOn", buildTime()}, {"hadoopVersion", version}, {"hadoopBuildVersion", version + " by hammr " + own},
		{"hadoopVersionBuiltOn", buildTime()}, {"haZooKeeperConnectionState", "Raft is used instead of ZooKeeper"}, {"hammrVersion", own},
	}}
}

func historyInfo(_ *Call, m apidoc.Masters) *document {
	created, _ := strconv.ParseInt(m.Cluster, 10, 64)
	return &document{root: "historyInfo", body: object{
		{"startedOn", created}, {"hadoopVersion", version}, {"hadoopBuildVersion", version + " by hammr"}, {"hadoopVersionBuiltOn", buildTime()},
	}}
}

// slotSums are the slots of all tasknodes.
type slotSums struct {
	slots, used int32
	states      map[string]int // of tasknodes
	nodes       int            // that have slots now
}

// usable reports whether tasks may run on a tasknode.
func usable(n *apidoc.Tasknode) bool {
	return n.State != "LOST" && n.State != "DECOMMISSIONED"
}

func slotSumsOf(nodes []apidoc.Tasknode) (r slotSums) {
	r.states = make(map[string]int)
	for i := range nodes {
		n := &nodes[i]
		r.states[nodeState(n.State)]++
		if usable(n) {
			r.nodes++
			r.slots += n.MapSlots + n.ReduceSlots
			r.used += n.MapsRunning + n.ReducesRunning
		}
	}
	return r
}

func clusterMetrics(c *Call) *document {
	nodes, pools, states := read(c, docs.Nodes, docs.No{}), read(c, docs.Pools, docs.No{}), c.states()
	r, waiting, submitted := slotSumsOf(nodes), int32(0), 0
	for _, p := range pools {
		waiting += p.Waiting.Map + p.Waiting.Reduce
	}
	for _, n := range states {
		submitted += n
	}
	free := max(0, r.slots-r.used)
	percent := int32(0)
	if r.slots > 0 {
		percent = r.used * 100 / r.slots
	}
	return &document{root: "clusterMetrics", body: object{
		{"appsSubmitted", submitted}, {"appsCompleted", states["SUCCEEDED"]}, {"appsPending", states["PREP"]}, {"appsRunning", states["RUNNING"] + states[apidoc.Suspended]},
		{"appsFailed", states["FAILED"]}, {"appsKilled", states["KILLED"]},
		{"reservedMB", 0}, {"availableMB", free * SlotMB}, {"allocatedMB", r.used * SlotMB}, {"pendingMB", waiting * SlotMB},
		{"reservedVirtualCores", 0}, {"availableVirtualCores", free}, {"allocatedVirtualCores", r.used}, {"pendingVirtualCores", waiting},
		{"containersAllocated", r.used}, {"containersReserved", 0}, {"containersPending", waiting},
		{"totalMB", r.slots * SlotMB}, {"utilizedMB", r.used * SlotMB}, {"totalVirtualCores", r.slots}, {"utilizedVirtualCores", r.used},
		{"utilizedMBPercent", percent}, {"utilizedVirtualCoresPercent", percent}, {"rmSchedulerBusyPercent", 0},
		{"totalNodes", len(nodes)}, {"lostNodes", r.states["LOST"]}, {"unhealthyNodes", r.states["UNHEALTHY"]}, {"decommissioningNodes", r.states["DECOMMISSIONING"]},
		{"decommissionedNodes", r.states["DECOMMISSIONED"]}, {"rebootedNodes", 0}, {"activeNodes", r.states["RUNNING"]}, {"shutdownNodes", 0},
		{"containerAssignedPerSecond", 0}, {"totalAllocatedContainersAcrossPartition", r.used}, {"crossPartitionMetricsAvailable", false},
		{"rmEventQueueSize", 0}, {"schedulerEventQueueSize", 0},
	}}
}

func nodes(c *Call) *document {
	all := read(c, docs.Nodes, docs.No{})
	states := c.listParam("states")
	var rows []object
	for i := range all {
		if n := &all[i]; len(states) == 0 || containsFold(states, nodeState(n.State)) {
			rows = append(rows, node(n))
		}
	}
	return &document{root: "nodes", body: object{{"node", rows}}}
}

func oneNode(c *Call) *document {
	all := read(c, docs.Nodes, docs.No{})
	name := c.r.PathValue("node")
	for i := range all {
		if n := &all[i]; n.Address == name || n.Name == name {
			return &document{root: "node", body: node(n)}
		}
	}
	c.fail(notFound("nodeId, %s, is not found", name))
	return nil
}

// nodeID returns the id of a tasknode: its address, or its name if it has none.
func nodeID(n *apidoc.Tasknode) string {
	if n.Address == "" {
		return n.Name
	}
	return n.Address
}

func node(n *apidoc.Tasknode) object {
	host, _, err := net.SplitHostPort(nodeID(n))
	if err != nil { // it is a name
		host = nodeID(n)
	}
	slots, used := n.MapSlots+n.ReduceSlots, n.MapsRunning+n.ReducesRunning
	if !usable(n) {
		slots, used = 0, 0
	}
	return object{
		{"rack", n.Rack}, {"state", nodeState(n.State)}, {"id", nodeID(n)}, {"nodeHostName", host}, {"nodeHTTPAddress", n.HTTP},
		{"lastHealthUpdate", n.LastHeartbeat}, {"version", version}, {"healthReport", n.Unhealthy}, {"numContainers", used},
		{"usedMemoryMB", used * SlotMB}, {"availMemoryMB", max(0, slots-used) * SlotMB}, {"usedVirtualCores", used}, {"availableVirtualCores", max(0, slots-used)},
		{"memUtilization", 0.0}, {"cpuUtilization", n.Load}, {"numRunningOpportContainers", 0}, {"usedMemoryOpportGB", 0}, {"usedVirtualCoresOpport", 0},
		{"numQueuedContainers", 0}, {"allocationTags", object{}},
		{"resourceUtilization", object{
			{"nodePhysicalMemoryMB", n.MemoryUsedMB}, {"nodeVirtualMemoryMB", n.MemoryUsedMB}, {"nodeCPUUsage", n.Load},
			{"aggregatedContainersPhysicalMemoryMB", n.MemoryUsedMB}, {"aggregatedContainersVirtualMemoryMB", n.MemoryUsedMB}, {"containersCPUUsage", n.Load},
		}},
		{"usedResource", resource(int64(used))}, {"availableResource", resource(int64(max(0, slots-used)))}, {"nodeAttributesInfo", object{}},
		{"totalResource", resource(int64(slots))},
	}
}

const unlimited = 1<<63 - 1

// resource describes slots as memory and vcores.
func resource(slots int64) object {
	of := func(name, units string, value int64) object {
		return object{{"attributes", object{}}, {"maximumAllocation", int64(unlimited)}, {"minimumAllocation", 0}, {"name", name},
			{"resourceType", "COUNTABLE"}, {"units", units}, {"value", value}}
	}
	return object{{"memory", slots * SlotMB}, {"vCores", slots},
		{"resourceInformations", object{{"resourceInformation", []object{of("memory-mb", "Mi", slots*SlotMB), of("vcores", "", slots)}}}}}
}

func containsFold(list []string, text string) bool {
	for _, s := range list {
		if strings.EqualFold(s, text) {
			return true
		}
	}
	return false
}
