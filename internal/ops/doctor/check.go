package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Check examines one thing.
type Check struct {
	// Name is for --only and --skip.
	Name string
	// About says what is examined, or what holds if all is well, in at most 59 characters.
	About string
	// Cluster says that the check needs a View.
	Cluster bool

	run func(ctx context.Context, t *Target) []Finding
}

// Checks returns all checks in the order in which they run. A check that another one builds on comes first: space is
// measured in directories that a fix has made.
func Checks() []Check {
	return []Check{
		{Name: "configuration", About: "the files of --config", run: forEach(configured, "no configuration of a daemon; name its file with --config", one(judgeConfiguration))},
		{Name: "name", About: "names of this machine and of the masters resolve, and back", run: checkNames},
		{Name: "ports", About: "ports are free, or in use by these daemons", run: forEach(usable, noDaemon, checkPorts)},
		{Name: "token", About: "mode, owner and content of files of the cluster's token", run: forEach(tokenFiles, "no file of a token; name it with --token-file or --config", one(checkToken))},
		{Name: "directories", About: "directories exist, are writable, and run programs", run: checkDirectories},
		{Name: "disk-space", About: "free bytes and inodes of the directories", run: forEach(existing, noDirectory, one(checkSpace))},
		{Name: "disk-latency", About: "time of synchronous writes to the directories", run: forEach(existing, noDirectory, one(checkLatency))},
		{Name: "open-files", About: "limit of open files", run: checkOpenFiles},
		{Name: "cgroup", About: "control groups that limit the memory of tasks", run: checkCgroup},
		{Name: "memory", About: "swap, transparent huge pages and overcommitment", run: checkMemory},
		{Name: "kernel", About: "version, and limit of connections that wait", run: checkKernel},
		{Name: "users", About: "users of --user are found, and may run tasks", run: checkUsers},
		{Name: "hadoop", About: "Hadoop's files are right, and the NameNodes answer", run: checkHadoop},
		{Name: "staging", About: "this user can write to the staging directory", run: forEach(stagings, "no staging directory is known; name a jobmaster's --config, or use --cluster", one(checkStaging))},
		{Name: "security", About: "settings that give others more rights than they need", run: forEach(usable, noDaemon, checkSecurity)},
		{Name: "clock", About: "this machine's clock and those of the masters agree", run: forEach((*Target).AllMasters, noMasters, one(checkClock))},
		{Name: "reach", About: "the addresses of --reach accept connections from here", run: checkReach},
		{Name: "versions", About: "this program and the masters have one version", run: forEach((*Target).AllMasters, noMasters, one(checkVersion))},

		{Name: "masters", Cluster: true, About: "every master answers, one leads, a majority is left", run: checkMasters},
		{Name: "replication", Cluster: true, About: "how far the masters' logs are behind the leader's", run: checkReplication},
		{Name: "tasknodes", Cluster: true, About: "tasknodes that are lost, unhealthy, excluded or draining", run: checkTasknodes},
		{Name: "tasknode-clocks", Cluster: true, About: "the tasknodes' clocks and the leader's agree", run: checkTasknodeClocks},
		{Name: "pages", Cluster: true, About: "the tasknodes' pages answer this machine", run: checkPages},
		{Name: "shuffle-ports", Cluster: true, About: "the tasknodes' shuffle servers answer this machine", run: checkShufflePorts},
		{Name: "racks", Cluster: true, About: "tasknodes without a rack while others have one", run: checkRacks},
		{Name: "block-locations", Cluster: true, About: "HDFS has blocks on machines with tasknodes", run: checkBlockLocations},
	}
}

// Why several checks are skipped.
const (
	noDaemon    = "no configuration of a daemon"
	noDirectory = "no directory that exists"
	noMasters   = "no masters; name them with --master or --config"
)

// forEach returns a check of several subjects, in their order. Without any, it is skipped, and none says why.
func forEach[S any](subjects func(*Target) []S, none string, examine func(context.Context, *Target, S) []Finding) func(context.Context, *Target) []Finding {
	return func(ctx context.Context, t *Target) (found []Finding) {
		for _, s := range subjects(t) {
			found = append(found, examine(ctx, t, s)...)
		}
		return orSkipped(found, none)
	}
}

// one returns an examination that has one result.
func one[S any](examine func(context.Context, *Target, S) Finding) func(context.Context, *Target, S) []Finding {
	return func(ctx context.Context, t *Target, s S) []Finding { return []Finding{examine(ctx, t, s)} }
}

// orSkipped returns the findings of a check, which is skipped if it has none.
func orSkipped(found []Finding, why string) []Finding {
	if len(found) == 0 {
		return []Finding{skipped("%s", why)}
	}
	return found
}

// manyAtOnce bounds the number of subjects that are examined at once.
const manyAtOnce = 32

// severalAtOnce examines subjects, several at once, and returns the findings in their order.
func severalAtOnce[S any](subjects []S, examine func(S) Finding) []Finding {
	found := make([]Finding, len(subjects))
	var group errgroup.Group
	group.SetLimit(manyAtOnce)
	for i, s := range subjects {
		group.Go(func() error {
			found[i] = examine(s)
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
	return found
}

// Options say which checks run, and what Run may change.
type Options struct {
	// Only are the names of the checks to run. Default all.
	Only []string
	// Skip are the names of checks that do not run. Default none.
	Skip []string
	// Fix carries out the fixes of findings. Default false.
	Fix bool
}

// Validate returns an error that names every unknown check.
func (o Options) Validate() error {
	var known, unknown []string
	for _, c := range Checks() {
		known = append(known, c.Name)
	}
	for _, name := range slices.Concat(o.Only, o.Skip) {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("no check %s; there are %s", strings.Join(unknown, ", "), strings.Join(known, ", "))
	}
	return nil
}

// selects reports whether a check runs.
func (o Options) selects(c Check) bool {
	return (len(o.Only) == 0 || slices.Contains(o.Only, c.Name)) && !slices.Contains(o.Skip, c.Name)
}

// Run runs the checks one after the other. Those of a cluster run only if t has a View. If ctx ends, the report has
// the checks that were made until then.
func Run(ctx context.Context, t *Target, o Options) Report {
	r := Report{Host: t.Host, Version: t.Version, Time: time.Now().UnixMilli(), Findings: []Finding{}}
	for _, c := range Checks() {
		if c.Cluster && t.View == nil || !o.selects(c) {
			continue
		}
		findings := c.examine(ctx, t)
		if ctx.Err() != nil {
			break
		}
		for _, f := range findings {
			if o.Fix {
				f = f.apply()
			}
			f.Check = c.Name
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}

// Limits of the time of a check.
const (
	checkTimeout = 30 * time.Second
	checkGrace   = 2 * time.Second // for a check that ends because of the first, and says more than examine can
)

// examine runs a check. A check that hangs, such as in a system call on a broken disk, is a fault.
func (c Check) examine(ctx context.Context, t *Target) []Finding {
	limited, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	done := make(chan []Finding, 1)
	go func() { done <- c.run(limited, t) }()
	late := time.NewTimer(checkTimeout + checkGrace)
	defer late.Stop()
	select {
	case findings := <-done:
		return findings
	case <-ctx.Done():
		return nil
	case <-late.C:
		return []Finding{fault("look for a disk, a network file system or a service that hangs; --skip "+c.Name+" leaves this check out",
			"no result after %v", checkTimeout+checkGrace)}
	}
}
