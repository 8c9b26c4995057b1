package hostfile

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Machine is a machine of a cluster, and what its line says about its daemons.
type Machine struct {
	Target  string            // what the shell connects to: [user@]host
	Host    string            // Target without the user
	Options map[string]string // of its line only
}

// Options of machines. The settings of a daemon are options too: their names begin with a
// role, as in tasknode.rack=/r1.
const (
	Roles   = "roles"   // joined by commas
	ID      = "id"      // id of its jobmaster
	Slots   = "slots"   // map slots of its tasknode; reduce slots are half of it
	Address = "address" // name or address at which other machines reach it
	Listen  = "listen"  // address at which its daemons listen
	Port    = "port"    // of the jobmaster; the other ports follow from it
	Dir     = "dir"     // directory of the program, the settings and the files of daemons

	YarnMemory = "yarn-memory" // MiB for the tasks of its NodeManager
)

// Options of a cluster, which belong to lines that begin with a star.
const (
	ClusterID  = "cluster-id"
	Masters    = "masters"     // number of jobmasters
	Staging    = "staging"     // full name of the directory for splits and programs
	HadoopConf = "hadoop-conf" // value of HADOOP_CONF_DIR of the daemons
	HDFS       = "hdfs"        // true: the machines have an HDFS of their own
	Yarn       = "yarn"        // true: they have a YARN beside it
)

// Hadoop begins the names of options that are properties of HDFS and YARN, as in
// hadoop.dfs.replication=2. They belong to the cluster.
const Hadoop = "hadoop"

// MaxPort is the greatest value of Port: the ports of the other daemons, of pages and of
// measurements are at most 33 higher.
const MaxPort = 65535 - 33

// option is what a value has to be. A check returns what it expected, or "".
type option struct {
	ofCluster bool // it is for lines that begin with a star
	check     func(value string) (expected string)
}

var options = map[string]option{
	Roles:   {check: checkRoles},
	ID:      {check: func(v string) string { return expect(isWord(v, ""), "letters, digits, - and _") }},
	Slots:   {check: func(v string) string { return checkNumber(v, 1, 10_000) }},
	Address: {check: func(v string) string { return expect(isHost(v), "a host name or an address") }},
	Listen:  {check: func(v string) string { return expect(isHost(v), "an address of the machine") }},
	Port:    {check: func(v string) string { return checkNumber(v, 1, MaxPort) }},
	Dir:     {check: func(v string) string { return expect(filepath.IsAbs(v), "an absolute path") }},

	YarnMemory: {check: func(v string) string { return checkNumber(v, 512, 1<<24) }},

	ClusterID: {ofCluster: true, check: func(v string) string { return checkNumber(v, 1, 1<<62) }},
	Masters: {ofCluster: true, check: func(v string) string {
		return expect(slices.Contains([]string{"1", "3", "5"}, v), "1, 3 or 5")
	}},
	Staging: {ofCluster: true, check: func(v string) string {
		return expect(isFullName(v), "a full name, such as hdfs://nn:8020/hammr/staging")
	}},
	HadoopConf: {ofCluster: true, check: func(v string) string { return expect(filepath.IsAbs(v), "an absolute path") }},
	HDFS:       {ofCluster: true, check: checkBool},
	Yarn:       {ofCluster: true, check: checkBool},
}

func checkBool(value string) string {
	return expect(value == "true" || value == "false", "true or false")
}

// expect returns expected unless ok.
func expect(ok bool, expected string) string {
	if ok {
		return ""
	}
	return expected
}

func checkNumber(value string, least, most int64) string {
	n, err := strconv.ParseInt(value, 10, 64)
	return expect(err == nil && n >= least && n <= most, fmt.Sprintf("a number from %d to %d", least, most))
}

func checkRoles(value string) string {
	for role := range strings.SplitSeq(value, ",") {
		if !slices.Contains([]string{Jobmaster, Tasknode, NameNode, DataNode, ResourceManager, NodeManager}, role) {
			return "jobmaster, tasknode, namenode, datanode, resourcemanager or nodemanager, joined by commas"
		}
	}
	return ""
}

// isHost reports whether a word can be the name or the address of a host. A word that begins
// with a dash would be an option of ssh.
func isHost(word string) bool { return isWord(word, ".:") && word[0] != '-' }

// isUser reports whether a word can be the name of a user, also of one of a domain.
func isUser(word string) bool { return isWord(word, `.+@$\`) && word[0] != '-' }

// isWord reports whether a word has only letters, digits, dashes, underscores and what more has.
func isWord(word, more string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_"+more, r)
	})
}

// isFullName reports whether a name has a scheme and an absolute path.
func isFullName(name string) bool {
	u, err := url.Parse(name)
	return err == nil && u.Scheme != "" && strings.HasPrefix(u.Path, "/")
}

func (f *File) readMachines(lines []line) error {
	errs, hosts := lineErrors{file: f.Name}, make(seen)
	f.Cluster = make(map[string]string)
	for _, l := range lines {
		given, err := parseOptions(l.words[1:], l.words[0] == "*")
		if err != nil {
			errs.add(l.number, err)
			continue
		}
		if l.words[0] == "*" {
			errs.add(l.number, merge(f.Cluster, given))
			continue
		}
		m, err := parseTarget(l.words[0])
		if err == nil {
			err = hosts.add(m.Host, l.number)
		}
		errs.add(l.number, err)
		m.Options = given
		f.Machines = append(f.Machines, m)
	}
	if len(f.Machines) == 0 && len(errs.errs) == 0 {
		return fmt.Errorf("%s: no machine in it; write a host name on each line", f.Name)
	}
	return errs.joined()
}

// parseTarget reads [user@]host.
func parseTarget(word string) (m Machine, err error) {
	at := strings.LastIndexByte(word, '@')
	m = Machine{Target: word, Host: word[at+1:]}
	if !isHost(m.Host) || at >= 0 && !isUser(word[:at]) {
		return m, fmt.Errorf("%q: expected HOST or USER@HOST, then KEY=VALUE ...", word)
	}
	return m, nil
}

// parseOptions reads words KEY=VALUE and reports all errors. ofCluster says that they are for
// all machines.
func parseOptions(words []string, ofCluster bool) (given map[string]string, err error) {
	given = make(map[string]string)
	var errs []error
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("%q: expected KEY=VALUE", word))
			continue
		case has(given, key):
			errs = append(errs, fmt.Errorf("%s is given twice", key))
			continue
		}
		errs = append(errs, CheckOption(key, value, ofCluster))
		given[key] = value
	}
	return given, errors.Join(errs...)
}

func has(m map[string]string, key string) bool { _, ok := m[key]; return ok }

// CheckOption returns an error if a value is wrong, or if there is no such option for a
// machine or for all machines. It accepts all settings of daemons and properties of Hadoop.
func CheckOption(key, value string, ofCluster bool) error {
	role, setting, isSetting := strings.Cut(key, ".")
	if isSetting && (role == Jobmaster || role == Tasknode) && setting != "" {
		return nil
	}
	o, ok := options[key]
	if isSetting && role == Hadoop && setting != "" {
		o, ok = option{ofCluster: true, check: func(string) string { return "" }}, true
	}
	switch {
	case !ok:
		return fmt.Errorf("no option %q; there are %s, and settings of daemons such as tasknode.rack", key, strings.Join(slices.Sorted(maps.Keys(options)), ", "))
	case o.ofCluster && !ofCluster:
		return fmt.Errorf("%s is an option of the whole cluster; write it on a line that begins with *", key)
	case key == ID && ofCluster:
		return fmt.Errorf("%s cannot be the same for all machines", key)
	}
	if expected := o.check(value); expected != "" {
		return fmt.Errorf("%s=%s: expected %s", key, value, expected)
	}
	return nil
}

// ParseSetting parses ROLE.NAME=VALUE, the value of a flag --set: a setting of all daemons of a
// role.
func ParseSetting(text string) (role, name, value string, err error) {
	key, value, ok := strings.Cut(text, "=")
	role, name, _ = strings.Cut(key, ".")
	switch {
	case !ok || name == "":
		err = fmt.Errorf("--set %s: expected jobmaster.NAME=VALUE or tasknode.NAME=VALUE", text)
	case role != Jobmaster && role != Tasknode:
		err = fmt.Errorf("--set %s: there is no daemon %q", text, role)
	}
	return role, name, value, err
}

// merge adds options and reports those that are there already.
func merge(to, from map[string]string) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(from)) {
		if has(to, key) {
			errs = append(errs, fmt.Errorf("%s is given twice", key))
		}
		to[key] = from[key]
	}
	return errors.Join(errs...)
}

// Option returns an option of a machine, "" if neither its line nor that of the cluster has
// it.
func (f *File) Option(m Machine, key string) string {
	if value, ok := m.Options[key]; ok {
		return value
	}
	return f.Cluster[key]
}

// Settings returns the settings of a daemon on a machine: those of the cluster, overridden by
// those of the machine.
func (f *File) Settings(m Machine, role string) map[string]string {
	settings := make(map[string]string)
	for _, given := range []map[string]string{f.Cluster, m.Options} {
		for key, value := range given {
			if name, ok := strings.CutPrefix(key, role+"."); ok {
				settings[name] = value
			}
		}
	}
	return settings
}
