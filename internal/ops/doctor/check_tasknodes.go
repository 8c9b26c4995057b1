package doctor

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// checkTasknodes reports tasknodes that get no tasks, and directories that they do not use.
func checkTasknodes(_ context.Context, t *Target) []Finding {
	if v := t.View; v.TasknodesErr == nil && len(v.Tasknodes) == 0 {
		return []Finding{warn("start tasknodes", "the cluster has no tasknodes, so no job can run")}
	}
	return t.withTasknodes(judgeTasknodes)
}

func judgeTasknodes(all []apidoc.Tasknode) (found []Finding) {
	good := 0
	for _, n := range all {
		about := judgeTasknode(n)
		if len(about) == 0 {
			good++
		}
		found = append(found, about...)
	}
	return append([]Finding{ok("%d of %d tasknodes run without a fault", good, len(all))}, found...)
}

// judgeTasknode returns what keeps a tasknode from work.
func judgeTasknode(n apidoc.Tasknode) (found []Finding) {
	switch {
	case isLost(n) && isRemoved(n):
		return []Finding{ok("%s: %s, and stopped", n.Name, n.State)}
	case isLost(n):
		return []Finding{fault("start it, or wait until the masters forget it (--forget)", "%s: %s, last heartbeat %s", n.Name, n.State, heartbeatTime(n))}
	case n.Draining:
		found = append(found, warn(fmt.Sprintf("'hammr node add %s' gives it tasks again", n.Name), "%s: draining", n.Name))
	case isRemoved(n):
		found = append(found, warn(fmt.Sprintf("'hammr node add %s' gives it tasks again", n.Name), "%s: %s", n.Name, n.State))
	}
	if n.Unhealthy != "" {
		found = append(found, fault("remove the cause that its health script or its directories report", "%s: unhealthy: %s", n.Name, n.Unhealthy))
	}
	if n.Suspicion != "" {
		found = append(found, warn(fmt.Sprintf("look at its log; 'hammr node add %s' gives it tasks again", n.Name), "%s: avoided: %s", n.Name, n.Suspicion))
	}
	for _, d := range n.Directories {
		if d.Fault != "" {
			found = append(found, fault("repair the disk, or remove files from it", "%s: directory %s is not used: %s", n.Name, d.Path, d.Fault))
		}
	}
	return found
}

// isRemoved reports whether an operator has excluded a tasknode from new tasks.
func isRemoved(n apidoc.Tasknode) bool {
	return n.State == "DECOMMISSIONING" || n.State == "DECOMMISSIONED"
}

func heartbeatTime(n apidoc.Tasknode) string {
	if n.LastHeartbeat == 0 {
		return "unknown"
	}
	return time.UnixMilli(n.LastHeartbeat).UTC().Format("2006-01-02 15:04:05 UTC")
}

// checkTasknodeClocks judges the difference between the clock of each tasknode and that of the leader, which
// measures it by heartbeats.
func checkTasknodeClocks(_ context.Context, t *Target) []Finding {
	return t.eachTasknode(func(n apidoc.Tasknode) Finding {
		return judgeClock(n.Name, "the leader's", time.Duration(n.ClockSkew)*time.Millisecond, 0)
	}, "the clocks of %d tasknodes agree with the leader's")
}

// summarize replaces all findings that are ok by one, whose text gets their number.
func summarize(found []Finding, format string) []Finding {
	if len(found) == 0 {
		return []Finding{skipped("all tasknodes are lost")}
	}
	rest := slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return f.State == OK })
	if n := len(found) - len(rest); n > 0 {
		rest = append([]Finding{ok(format, n)}, rest...)
	}
	return rest
}

// eachTasknode examines all tasknodes that are not lost, several at once, and returns the findings in their order.
func (t *Target) eachTasknode(examine func(apidoc.Tasknode) Finding, summary string) []Finding {
	return t.withTasknodes(func(all []apidoc.Tasknode) []Finding {
		return summarize(severalAtOnce(slices.DeleteFunc(slices.Clone(all), isLost), examine), summary)
	})
}

// checkPages asks each tasknode for its health, as masters do when they miss heartbeats.
func checkPages(ctx context.Context, t *Target) []Finding {
	return t.eachTasknode(func(n apidoc.Tasknode) Finding {
		a, err := get(ctx, n.HTTP, "/health")
		switch {
		case err != nil:
			return fault("let this machine and the masters reach the address; see --http and --advertise", "%s: page %s: %s", n.Name, n.HTTP, oneLine(err))
		case a.status != 200:
			return fault("see the log of the tasknode", "%s: page %s: %s", n.Name, n.HTTP, strings.TrimSpace(a.body))
		}
		return ok("%s: page %s", n.Name, n.HTTP)
	}, "the pages of %d tasknodes answer")
}

// checkShufflePorts connects to the shuffle server of each tasknode, as other tasknodes do.
func checkShufflePorts(ctx context.Context, t *Target) []Finding {
	var mu sync.Mutex
	var slowest time.Duration
	found := t.eachTasknode(func(n apidoc.Tasknode) Finding {
		took, err := connect(ctx, n.Address)
		mu.Lock()
		slowest = max(slowest, took)
		mu.Unlock()
		if err != nil {
			return fault("let the machines of the cluster reach the address; see --advertise and the firewall", "%s: shuffle server %s: %s", n.Name, n.Address, oneLine(err))
		}
		return ok("%s: shuffle server %s", n.Name, n.Address)
	}, "the shuffle servers of %d tasknodes accept connections")
	if found[0].State == OK {
		found[0].Detail += fmt.Sprintf(", the slowest after %v", slowest)
	}
	return found
}

// defaultRack is the rack of machines that Hadoop's topology does not know.
const defaultRack = "/default-rack"

// checkRacks reports tasknodes without a rack while others have one: tasks would be placed as if these machines
// were together in another rack.
func checkRacks(_ context.Context, t *Target) []Finding { return t.withTasknodes(judgeRacks) }

func judgeRacks(all []apidoc.Tasknode) []Finding {
	racks := make(map[string]bool)
	var without []apidoc.Tasknode
	live := slices.DeleteFunc(slices.Clone(all), isLost)
	for _, n := range live {
		if n.Rack == "" || n.Rack == defaultRack {
			without = append(without, n)
		} else {
			racks[n.Rack] = true
		}
	}
	switch {
	case len(racks) == 0:
		return []Finding{ok("no tasknode has a rack")}
	case len(without) > 0:
		return []Finding{warn("add them to the table of net.topology.table.file.name, or set --rack", "%d racks, but these tasknodes have none: %s", len(racks), names(without))}
	}
	return []Finding{ok("%d tasknodes in %d racks", len(live), len(racks))}
}

// checkBlockLocations writes a small file to the staging directory and looks where HDFS has put it.
func checkBlockLocations(ctx context.Context, t *Target) []Finding {
	return t.withTasknodes(func(all []apidoc.Tasknode) (found []Finding) {
		staging := t.View.Info.GetStagingDir()
		if !strings.HasPrefix(staging, "hdfs:") {
			return []Finding{skipped("the staging directory is not on HDFS: %s", staging)}
		}
		file, remove, err := t.probeStaging(ctx, staging)
		if err != nil {
			return []Finding{skipped("no file could be made in %s: %s", staging, oneLine(err))}
		}
		blocks, err := file.fs.Blocks(ctx, file.path, 0, 1)
		if removeErr := remove(); err == nil {
			err = removeErr
		}
		if err != nil {
			return []Finding{fault("look at the NameNode's log", "locations of a block in %s: %s", staging, oneLine(err))}
		}
		var hosts []string
		for _, b := range blocks {
			hosts = append(hosts, b.Hosts...)
		}
		return []Finding{judgeLocations(hosts, all)}
	})
}

// judgeLocations compares the hosts of a block with the hosts of the tasknodes.
func judgeLocations(hosts []string, all []apidoc.Tasknode) Finding {
	const remedy = "run a tasknode on each DataNode, known by the same name or address; see --address and dfs.datanode.hostname"
	if len(hosts) == 0 {
		return fault("look at the NameNode's log", "HDFS names no host for a new block")
	}
	for _, h := range hosts {
		if host, _, err := net.SplitHostPort(h); err == nil {
			h = host
		}
		for _, n := range all {
			if slices.Contains(n.Hosts, h) {
				return ok("a new block is on %s, which %s is", strings.Join(hosts, ", "), n.Name)
			}
		}
	}
	return warn(remedy, "a new block is on %s, and no tasknode is there: maps will read from other machines", strings.Join(hosts, ", "))
}
