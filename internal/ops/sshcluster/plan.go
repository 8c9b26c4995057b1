package sshcluster

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/ops/launch"
)

// Plan is what a cluster consists of. It is derived from a hostfile; Adopt and Locate complete
// it from what the machines have.
type Plan struct {
	ClusterID  string // a number; "" for a cluster that is not known yet
	Staging    string // full name of the directory for splits and programs; "" for the jobmasters' default
	HadoopConf string // value of HADOOP_CONF_DIR of the daemons; "" for none
	Hosts      []Host

	hadoop map[string]string // properties of HDFS and YARN, which override those of the plan
}

// Host is a machine of a Plan.
type Host struct {
	Target    string // what ssh connects to
	Name      string // unique in the cluster; its tasknode has this name
	Address   string // at which other machines reach it
	Listen    string // address at which its daemons listen; "" for all
	Port      int    // of its jobmaster
	Dir       string // "" for the default of the user there, until Locate
	Jobmaster string // id of its jobmaster; "" for none
	Tasknode  bool
	Slots     int // map slots; 0 for one a processor, until Locate

	YarnMemory int // MiB for the containers of its NodeManager; 0 for three quarters of its memory, until Locate

	hadoop map[string]bool // its roles of HDFS and YARN

	units string // yes if units of systemd run its daemons, no if not; "" until it is surveyed
	etc   string // directory of its token and settings; "" until it is surveyed

	jobmasterSettings, tasknodeSettings map[string]string // by name; of the hostfile
}

// The ports of a machine, as distances from Host.Port. Those of Hammr are the daemons' own
// defaults, 7070, 7071, 7080 and 7081.
const (
	defaultPort             = 7070
	tasknodePort            = 1
	jobmasterPagePort       = 10
	tasknodePagePort        = 11
	nameNodePort            = 20
	nameNodePagePort        = 21
	dataNodePort            = 22
	dataNodePagePort        = 23
	dataNodeCallPort        = 24
	measurePort             = 25
	resourceManagerPort     = 26 // for clients
	trackerPort             = 27 // for NodeManagers
	schedulerPort           = 28 // for application masters
	managerAdminPort        = 29
	resourceManagerPagePort = 30
	nodeManagerPort         = 31
	localizerPort           = 32
	nodeManagerPagePort     = 33
	fewHosts                = 3 // fewer hosts than this have one jobmaster
	hostsWithOwnMasters     = 8 // as many hosts as this have jobmasters on machines without tasknodes
)

// NewPlan derives a Plan from a list of machines. It chooses what the list does not say:
//
//	jobmasters   on the first three machines; with fewer than three, on the first
//	tasknodes    on every machine; with eight or more, on those without a jobmaster, so that
//	             tasks do not slow the masters' logs down
//	HDFS         if it is wanted, its NameNode on the first machine, and a DataNode beside
//	             each tasknode
//	YARN         if it is wanted, its ResourceManager on the first machine, and a NodeManager
//	             beside each tasknode
//
// The caller validates the plan once it is complete.
func NewPlan(f hostfile.File) (*Plan, error) {
	if len(f.Machines) == 0 {
		return nil, fmt.Errorf("%s: it lists the daemons of a cluster that runs; write a list of machines, with a host name on each line", f.Name)
	}
	p := &Plan{ClusterID: f.Cluster[hostfile.ClusterID], Staging: f.Cluster[hostfile.Staging], HadoopConf: f.Cluster[hostfile.HadoopConf], hadoop: f.Settings(hostfile.Machine{}, hostfile.Hadoop)}
	for _, m := range f.Machines {
		p.Hosts = append(p.Hosts, newHost(f, m))
	}
	p.chooseRoles(f)
	p.nameMasters()
	p.chooseHadoop(f)
	return p, nil
}

// newHost returns a host without roles.
func newHost(f hostfile.File, m hostfile.Machine) Host {
	h := Host{
		Target: m.Target, Name: m.Host, Address: m.Host, Port: defaultPort,
		Dir:               strings.ReplaceAll(f.Option(m, hostfile.Dir), "{host}", m.Host),
		jobmasterSettings: f.Settings(m, hostfile.Jobmaster), tasknodeSettings: f.Settings(m, hostfile.Tasknode),
	}
	if address := f.Option(m, hostfile.Address); address != "" {
		h.Address = address
	}
	if h.Listen = f.Option(m, hostfile.Listen); h.Listen == "" && isLoopback(h.Address) {
		h.Listen = h.Address
	}
	// The parser has checked that these are numbers.
	if port := f.Option(m, hostfile.Port); port != "" {
		h.Port, _ = strconv.Atoi(port)
	}
	h.Slots, _ = strconv.Atoi(f.Option(m, hostfile.Slots))
	h.YarnMemory, _ = strconv.Atoi(f.Option(m, hostfile.YarnMemory))
	h.Jobmaster = m.Options[hostfile.ID]
	return h
}

// isLoopback reports whether an address is one of several that a machine may have for itself.
// Daemons at such an address must not listen at all others too.
func isLoopback(address string) bool {
	ip, err := netip.ParseAddr(address)
	return err == nil && ip.IsLoopback()
}

// unnamed is the id of a jobmaster until nameMasters.
const unnamed = "?"

// chooseRoles gives roles to the machines whose lines have none.
func (p *Plan) chooseRoles(f hostfile.File) {
	for i, m := range f.Machines {
		h := &p.Hosts[i]
		roles := strings.Split(f.Option(m, hostfile.Roles), ",")
		h.Tasknode = slices.Contains(roles, hostfile.Tasknode)
		h.hadoop = make(map[string]bool)
		for _, role := range hadoopRoles {
			h.hadoop[role] = slices.Contains(roles, role)
		}
		if slices.Contains(roles, hostfile.Jobmaster) && h.Jobmaster == "" {
			h.Jobmaster = unnamed
		}
	}
	masters, want := p.count(hostfile.Jobmaster), wantedMasters(f)
	for i, m := range f.Machines {
		h := &p.Hosts[i]
		if f.Option(m, hostfile.Roles) != "" {
			continue
		}
		if h.Jobmaster == "" && masters < want {
			h.Jobmaster = unnamed
			masters++
		}
		h.Tasknode = h.Jobmaster == "" || len(f.Machines) < hostsWithOwnMasters
	}
}

// wantedMasters returns the number of jobmasters. Lines that name some are the choice of the
// user; then no more are added.
func wantedMasters(f hostfile.File) int {
	if n, err := strconv.Atoi(f.Cluster[hostfile.Masters]); err == nil {
		return n
	}
	for _, m := range f.Machines {
		if strings.Contains(f.Option(m, hostfile.Roles), hostfile.Jobmaster) || m.Options[hostfile.ID] != "" {
			return 0
		}
	}
	if len(f.Machines) < fewHosts {
		return 1
	}
	return 3
}

// nameMasters gives the ids m1, m2, … to jobmasters without one.
func (p *Plan) nameMasters() {
	next := 0
	for i := range p.Hosts {
		if p.Hosts[i].Jobmaster != unnamed {
			continue
		}
		for p.find(func(h *Host) bool { return h.Jobmaster == launch.MasterName(next) }) != nil {
			next++
		}
		p.Hosts[i].Jobmaster = launch.MasterName(next)
	}
}

// find returns the first host that matches, nil if there is none.
func (p *Plan) find(matches func(h *Host) bool) *Host {
	for i := range p.Hosts {
		if h := &p.Hosts[i]; matches(h) {
			return h
		}
	}
	return nil
}

// host returns the host with a name, nil if there is none.
func (p *Plan) host(name string) *Host { return p.find(func(h *Host) bool { return h.Name == name }) }

// count returns how many hosts have a daemon of a role.
func (p *Plan) count(role string) (n int) {
	for i := range p.Hosts {
		if p.Hosts[i].has(role) {
			n++
		}
	}
	return n
}

// Validate reports every error at once.
func (p *Plan) Validate() error {
	ids := make(map[string]string)
	var errs []error
	for _, h := range p.Hosts {
		if other, ok := ids[h.Jobmaster]; ok && h.Jobmaster != "" {
			errs = append(errs, fmt.Errorf("%s and %s both have the jobmaster %s; give each its own id", other, h.Name, h.Jobmaster))
		}
		ids[h.Jobmaster] = h.Name
	}
	if masters := p.count(hostfile.Jobmaster); !slices.Contains([]int{1, 3, 5}, masters) {
		errs = append(errs, fmt.Errorf("%d of %d machines have a jobmaster; a cluster has 1, 3 or 5", masters, len(p.Hosts)))
	}
	errs = append(errs, p.validateHadoop())
	if p.count(hostfile.Tasknode) == 0 {
		errs = append(errs, errors.New("no machine has a tasknode; write roles=tasknode or roles=jobmaster,tasknode on a line"))
	}
	if p.Staging == "" && p.HadoopConf == "" && len(p.Hosts) > 1 {
		errs = append(errs, errors.New("no directory for programs that all machines see; give --staging hdfs://HOST:8020/PATH, or file:///PATH of a shared file system"))
	}
	return errors.Join(errs...)
}

// Masters returns the addresses of the jobmasters for clients.
func (p *Plan) Masters() []string { return p.cluster().Addresses() }

// MasterAddress returns the address of the host's jobmaster for clients and other daemons.
func (h *Host) MasterAddress() string { return join(h.Address, h.Port) }

func join(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// startOrder are all roles in the order of their start.
var startOrder = slices.Concat(hadoopRoles, hammrRoles)

// hammrRoles are the roles of Hammr's own daemons.
var hammrRoles = []string{hostfile.Jobmaster, hostfile.Tasknode}

// Roles returns the roles of a host in the order of their start.
func (h *Host) Roles() []string { return h.among(startOrder) }

// hammrRoles returns the roles of Hammr's own daemons on a host.
func (h *Host) hammrRoles() []string { return h.among(hammrRoles) }

// among returns those of some roles that a host has.
func (h *Host) among(roles []string) []string {
	return slices.DeleteFunc(slices.Clone(roles), func(role string) bool { return !h.has(role) })
}

// has reports whether a host has a daemon of a role.
func (h *Host) has(role string) bool {
	switch role {
	case hostfile.Jobmaster:
		return h.Jobmaster != ""
	case hostfile.Tasknode:
		return h.Tasknode
	}
	return h.hadoop[role]
}

// DaemonName returns the name of a host's daemon in the cluster.
func (h *Host) DaemonName(role string) string {
	if role == hostfile.Jobmaster {
		return h.Jobmaster
	}
	return h.Name
}
