package hadoop

import (
	"cmp"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// scheduler answers with the pools, in the shape that the configuration names. Clients look for
// one: those that want shares in per cent read that of the capacity scheduler only.
func scheduler(c *Call) *document {
	pools, r := read(c, docs.Pools, docs.No{}), slotSumsOf(read(c, docs.Nodes, docs.No{}))
	shape := c.Scheduler
	if shape == "" {
		shape = "fair"
		if read(c, docs.Policy, docs.No{}).Policy == "fifo" {
			shape = "fifo"
		}
	}
	info := fairScheduler(pools, r)
	switch shape {
	case "capacity":
		info = capacityScheduler(pools, r)
	case "fifo":
		info = fifoScheduler(r)
	}
	return &document{root: "scheduler", body: object{{"schedulerInfo", info}}}
}

func fifoScheduler(r slotSums) object {
	share := 0.0
	if r.slots > 0 {
		share = float64(r.used) / float64(r.slots)
	}
	return object{
		{"type", "fifoScheduler"}, {"capacity", 1.0}, {"usedCapacity", share}, {"qstate", "RUNNING"}, {"minQueueMemoryCapacity", SlotMB},
		{"maxQueueMemoryCapacity", r.slots * SlotMB}, {"numNodes", r.nodes}, {"usedNodeCapacity", r.used * SlotMB},
		{"availNodeCapacity", max(0, r.slots-r.used) * SlotMB}, {"totalNodeCapacity", r.slots * SlotMB}, {"numContainers", r.used},
	}
}

const anyNumber = 1<<31 - 1 // of applications: no limit

// sum adds up slots of both kinds. A limit of -1 is that of the cluster.
func sum(s apidoc.Slots, slots int32) int32 {
	if s.Map < 0 || s.Reduce < 0 {
		return slots
	}
	return min(s.Map+s.Reduce, slots)
}

func fairScheduler(pools []apidoc.Queue, r slotSums) object {
	root := apidoc.Queue{Name: "root"}
	var leaves []object
	for i := range pools {
		p := &pools[i]
		root.Running.Map, root.Waiting.Map = root.Running.Map+p.Running.Map+p.Running.Reduce, root.Waiting.Map+p.Waiting.Map+p.Waiting.Reduce
		leaf := append(object{{"type", "fairSchedulerLeafQueueInfo"}}, fairQueue(queueOf(p.Name), p, r)...)
		leaves = append(leaves, append(leaf, field{"numPendingApps", p.Jobs.Waiting}, field{"numActiveApps", p.Jobs.Running}))
	}
	whole := append(fairQueue("root", &root, r), field{"childQueues", object{{"queue", leaves}}})
	return object{{"type", "fairScheduler"}, {"rootQueue", whole}}
}

// fairQueue describes a pool. Without an allotment it may use the whole cluster.
func fairQueue(name string, p *apidoc.Queue, r slotSums) object {
	a := p.Allotment
	if a == nil {
		a = &apidoc.Allotment{Order: "fair", Max: apidoc.Slots{Map: -1}, MaxJobs: -1, Share: apidoc.Share{Map: float64(r.slots)}}
	}
	maxJobs := a.MaxJobs
	if maxJobs < 0 {
		maxJobs = anyNumber
	}
	used, waiting, share := int64(p.Running.Map+p.Running.Reduce), int64(p.Waiting.Map+p.Waiting.Reduce), resource(int64(a.Share.Map+a.Share.Reduce))
	return object{
		{"maxApps", maxJobs}, {"minResources", resource(int64(sum(a.Min, r.slots)))}, {"maxResources", resource(int64(sum(a.Max, r.slots)))},
		{"usedResources", resource(used)}, {"amUsedResources", resource(0)}, {"amMaxResources", resource(0)}, {"demandResources", resource(used + waiting)},
		{"steadyFairResources", share}, {"fairResources", share}, {"clusterResources", resource(int64(r.slots))}, {"reservedResources", resource(0)},
		{"maxContainerAllocation", resource(int64(r.slots))}, {"pendingContainers", waiting}, {"allocatedContainers", used}, {"reservedContainers", 0},
		{"queueName", name}, {"schedulingPolicy", cmp.Or(a.Order, "fair")}, {"preemptable", true},
	}
}

// part returns one number in per cent of another.
func part(of, all float64) float64 {
	if all <= 0 {
		return 0
	}
	return 100 * of / all
}

// capacityScheduler describes pools as queues with fixed capacities. The capacity of a pool is its
// fair share of the cluster; without an allotment, all pools have the same. A leaf has an empty list
// of queues, which Hadoop's has not, because the check of Datadog ends at a queue without one.
func capacityScheduler(pools []apidoc.Queue, r slotSums) object {
	var queues []object
	used := 0.0
	for i := range pools {
		p := &pools[i]
		share, most := float64(r.slots)/float64(len(pools)), r.slots
		if a := p.Allotment; a != nil {
			share, most = a.Share.Map+a.Share.Reduce, sum(a.Max, r.slots)
		}
		running := p.Running.Map + p.Running.Reduce
		used += float64(running)
		queues = append(queues, capacityQueue(p, running, share, float64(most), float64(r.slots)))
	}
	all := part(used, float64(r.slots))
	return object{
		{"type", "capacityScheduler"}, {"capacity", 100.0}, {"usedCapacity", all}, {"maxCapacity", 100.0}, {"weight", -1.0}, {"normalizedWeight", 0.0},
		{"queueName", "root"}, {"queuePath", "root"}, {"maxParallelApps", anyNumber}, {"isAbsoluteResource", false}, {"queues", object{{"queue", queues}}},
		{"maximumAllocation", resource(int64(r.slots))}, {"queuePriority", 0}, {"orderingPolicyInfo", "utilization"}, {"mode", "percentage"}, {"queueType", "parent"},
		{"creationMethod", "static"}, {"autoCreationEligibility", "off"},
	}
}

func capacityQueue(p *apidoc.Queue, running int32, share, most, slots float64) object {
	absolute, used := part(share, slots), resource(int64(running))
	state, maxJobs := "RUNNING", int32(anyNumber)
	if p.State != "RUNNING" {
		state = "DRAINING"
	}
	if a := p.Allotment; a != nil && a.MaxJobs >= 0 {
		maxJobs = a.MaxJobs
	}
	return object{
		{"type", "capacitySchedulerLeafQueueInfo"}, {"queuePath", queueOf(p.Name)}, {"capacity", absolute}, {"usedCapacity", part(float64(running), share)},
		{"maxCapacity", part(most, slots)}, {"absoluteCapacity", absolute}, {"absoluteMaxCapacity", part(most, slots)}, {"absoluteUsedCapacity", part(float64(running), slots)},
		{"weight", -1.0}, {"normalizedWeight", 0.0}, {"numApplications", p.Jobs.Running + p.Jobs.Waiting}, {"maxParallelApps", anyNumber}, {"queueName", p.Name},
		{"isAbsoluteResource", false}, {"state", state}, {"queues", object{{"queue", emptyList{}}}}, {"resourcesUsed", used}, {"hideReservationQueues", false},
		{"nodeLabels", []string{"*"}}, {"allocatedContainers", running}, {"reservedContainers", 0}, {"pendingContainers", p.Waiting.Map + p.Waiting.Reduce},
		{"minEffectiveCapacity", resource(int64(share))}, {"maxEffectiveCapacity", resource(int64(most))}, {"maximumAllocation", resource(int64(slots))},
		{"queuePriority", 0}, {"orderingPolicyInfo", "fair"}, {"autoCreateChildQueueEnabled", false}, {"mode", "percentage"}, {"queueType", "leaf"},
		{"creationMethod", "static"}, {"autoCreationEligibility", "off"},
		{"numActiveApplications", p.Jobs.Running}, {"numPendingApplications", p.Jobs.Waiting}, {"numContainers", running}, {"maxApplications", maxJobs},
		{"maxApplicationsPerUser", maxJobs}, {"userLimit", 100.0}, {"users", object{}}, {"userLimitFactor", 1.0}, {"configuredMaxAMResourceLimit", 0.0},
		{"AMResourceLimit", resource(0)}, {"usedAMResource", resource(0)}, {"userAMResourceLimit", resource(0)}, {"preemptionDisabled", false},
		{"intraQueuePreemptionDisabled", false}, {"defaultPriority", 0}, {"isAutoCreatedLeafQueue", false}, {"maxApplicationLifetime", -1},
		{"defaultApplicationLifetime", -1},
	}
}
