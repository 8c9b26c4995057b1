package sshcluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/conf/hostfile"
)

// architectures are the names of `uname -m` for those of Go.
var architectures = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// freeBesideProgram is the disk space that a machine needs beside its program: for the log of
// a master and the first files of tasks.
const freeBesideProgram = 64 << 20

// check returns what keeps a machine from being part of a cluster, whatever the other machines
// have.
func (s *survey) check(h *Host, program *program) error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("%s: "+format, append([]any{h.Name}, args...)...))
		}
	}
	bad(s.os != "Linux", "its system is %s; machines of a cluster run Linux", s.os)
	want, known := architectures[program.arch]
	bad(known && s.os == "Linux" && s.arch != want, "its processor is %s and the program is for %s; give a program for it with --program FILE", s.arch, program.arch)
	bad(len(s.missing) > 0, "it lacks %s; install the packages coreutils, gzip and util-linux", strings.Join(s.missing, ", "))
	bad(s.state == "foreign", "%s has other files in it and no cluster; choose another directory with dir=", s.dir)
	bad(s.state == "not owned", "%s is not a directory of the user %s; choose another with dir=, or connect as its owner", s.dir, s.user)
	bad(s.state == "not writable", "the user %s cannot make %s; choose another directory with dir=, or make it for that user", s.user, s.dir)
	bad(s.machine != "" && s.machine != h.Name, "%s is also the directory of %s; give each machine its own, as with dir=/data/{host}", s.dir, s.machine)
	bad(len(h.among(hadoopRoles)) > 0 && !s.java, "it has no java for Hadoop; install a Java runtime, such as default-jre-headless")
	if s.units == "yes" {
		bad(s.program != program.hash, "the package there has another program; install the package of this version, or give its program with --program")
		return errors.Join(errs...)
	}
	need := int64(freeBesideProgram)
	if s.program != program.hash {
		need += program.size
	}
	bad(s.free < need, "%s has %d MiB free and needs %d; free some space, or choose another directory with dir=", s.dir, s.free>>20, need>>20)
	return errors.Join(errs...)
}

// sameCluster returns the id of the cluster that the machines belong to; "" if none belongs to
// one. Machines of two clusters are an error.
func sameCluster(p *Plan, surveys []*survey) (id string, err error) {
	names := make(map[string][]string) // of hosts, by cluster
	for i, s := range surveys {
		if s != nil && s.clusterID != "" {
			names[s.clusterID] = append(names[s.clusterID], p.Hosts[i].Name)
		}
	}
	if p.ClusterID != "" {
		for id, hosts := range names {
			if id != p.ClusterID {
				return "", fmt.Errorf("%s: the directory is of the cluster %s, not of %s; choose another with dir=, or remove it", strings.Join(hosts, ", "), id, p.ClusterID)
			}
		}
		return p.ClusterID, nil
	}
	ids := slices.Sorted(maps.Keys(names))
	switch len(ids) {
	case 0:
		return "", nil
	case 1:
		return ids[0], nil
	}
	var texts []string
	for _, id := range ids {
		texts = append(texts, fmt.Sprintf("%s has %s", id, strings.Join(names[id], ", ")))
	}
	return "", fmt.Errorf("the machines belong to different clusters: %s; choose other directories with dir=, or remove those of one cluster", strings.Join(texts, "; "))
}

// adopt completes the plan from the machines: the cluster that they belong to, the roles and
// places that its latest start has chosen, directories and slots. A cluster keeps its masters,
// since they know each other; a machine that is new in the hostfile becomes a tasknode.
//
// It returns the names of machines that the cluster has and the hostfile lacks.
func (p *Plan) adopt(surveys []*survey) (dropped []string, err error) {
	if p.ClusterID, err = sameCluster(p, surveys); err != nil {
		return nil, err
	}
	if old := latestPlan(surveys); old != nil && old.ClusterID == p.ClusterID {
		if dropped, err = p.keep(old); err != nil {
			return nil, err
		}
	}
	for i, s := range surveys {
		if s == nil {
			continue
		}
		h := &p.Hosts[i]
		h.Dir, h.units, h.etc = s.dir, s.units, s.etc
		if h.Slots == 0 {
			h.Slots = s.cpus
		}
		if h.YarnMemory == 0 && h.has(hostfile.NodeManager) {
			h.YarnMemory = s.memory / 4 * 3
		}
	}
	return dropped, nil
}

// latestPlan returns the plan of the latest start that the machines have. Starts only add
// machines, so the longest is the latest. It returns nil if no machine has one that can be
// read.
func latestPlan(surveys []*survey) (latest *Plan) {
	for _, s := range surveys {
		if s == nil || s.hostfile == "" {
			continue
		}
		f, err := hostfile.Parse("hosts", []byte(s.hostfile))
		if err != nil {
			continue // of a later version; the checks of the cluster's id remain
		}
		if p, err := NewPlan(f); err == nil && (latest == nil || len(p.Hosts) > len(latest.Hosts)) {
			latest = p
		}
	}
	return latest
}

// keep keeps the roles of an earlier plan, and the staging directory unless the hostfile names
// one.
func (p *Plan) keep(old *Plan) (dropped []string, err error) {
	for _, s := range hadoopSystems {
		if p.count(s[1]) > 0 && old.count(s[1]) == 0 {
			return nil, fmt.Errorf("the cluster was started without %s=true and keeps its roles; leave it out, or choose other directories with dir=", s[0])
		}
	}
	for _, o := range old.Hosts {
		switch h := p.host(o.Name); {
		case h == nil && o.Jobmaster != "":
			err = errors.Join(err, fmt.Errorf("%s: it has the jobmaster %s of the cluster %s and is not in the hostfile; add it, or choose other directories with dir=", o.Name, o.Jobmaster, old.ClusterID))
		case h == nil && (o.has(hostfile.NameNode) || o.has(hostfile.ResourceManager)):
			err = errors.Join(err, fmt.Errorf("%s: it has the NameNode or the ResourceManager of the cluster %s and is not in the hostfile; add it, or choose other directories with dir=", o.Name, old.ClusterID))
		case h == nil:
			dropped = append(dropped, o.Name)
		default:
			h.Jobmaster, h.Tasknode, h.Port, h.Address, h.Listen = o.Jobmaster, o.Tasknode, o.Port, o.Address, o.Listen
			h.hadoop = o.hadoop
		}
	}
	for i := range p.Hosts {
		if h := &p.Hosts[i]; old.host(h.Name) == nil {
			h.Jobmaster, h.Tasknode = "", true
			h.hadoop = map[string]bool{hostfile.DataNode: old.nameNode() != nil, hostfile.NodeManager: old.resourceManager() != nil}
		}
	}
	if p.Staging == "" || p.nameNode() != nil {
		p.Staging = old.Staging
	}
	if p.HadoopConf == "" {
		p.HadoopConf = old.HadoopConf
	}
	return dropped, err
}
