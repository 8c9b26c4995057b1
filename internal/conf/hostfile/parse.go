package hostfile

import (
	"errors"
	"fmt"
	"strings"
)

// Roles of daemons. The last four are daemons of HDFS and YARN, which only lists of machines have.
const (
	Jobmaster       = "jobmaster"
	Tasknode        = "tasknode"
	NameNode        = "namenode"
	DataNode        = "datanode"
	ResourceManager = "resourcemanager"
	NodeManager     = "nodemanager"
)

// maxBytes bounds a hostfile.
const maxBytes = 1 << 20

// File is a hostfile. It has either machines or daemons.
type File struct {
	// Name is for errors.
	Name string
	// Machines are the lines of a list of machines, in their order.
	Machines []Machine
	// Cluster has the options of the lines that begin with a star. Options of a machine
	// override them.
	Cluster map[string]string
	// Daemons are the lines of a list of daemons, in their order.
	Daemons []Daemon
}

// line is a line of a hostfile without its comment.
type line struct {
	number int // the first line is 1
	words  []string
}

// Parse reads a hostfile of either kind. The error names every line that is wrong. name is the
// file's name, for errors.
func Parse(name string, text []byte) (File, error) {
	f := File{Name: name}
	lines, err := split(name, text)
	if err != nil {
		return f, err
	}
	daemons := 0
	for _, l := range lines {
		if l.isDaemon() {
			daemons++
		}
	}
	switch daemons {
	case 0:
		err = f.readMachines(lines)
	case len(lines):
		err = f.readDaemons(lines)
	default:
		err = fmt.Errorf("%s: some lines are machines ('HOST KEY=VALUE ...') and others daemons ('ROLE NAME HOST:PORT ...'); use one kind", name)
	}
	if err != nil {
		return File{}, err
	}
	return f, nil
}

// split returns the lines that are not empty.
func split(name string, text []byte) (lines []line, err error) {
	if len(text) > maxBytes {
		return nil, fmt.Errorf("%s: it has %d bytes; a hostfile has at most %d", name, len(text), maxBytes)
	}
	for i, content := range strings.Split(string(text), "\n") {
		content, _, _ = strings.Cut(content, "#")
		if words := strings.Fields(content); len(words) > 0 {
			lines = append(lines, line{i + 1, words})
		}
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s: no machine in it; write a host name on each line", name)
	}
	return lines, nil
}

// isDaemon reports whether a line describes a daemon: it begins with a role, and the next word
// is no option. A machine may have the name of a role.
func (l line) isDaemon() bool {
	role := l.words[0] == Jobmaster || l.words[0] == Tasknode
	return role && len(l.words) > 1 && !strings.Contains(l.words[1], "=")
}

// seen finds names that appear twice.
type seen map[string]int

// add returns an error if an earlier line has the name too.
func (s seen) add(name string, number int) error {
	if first, ok := s[name]; ok {
		return fmt.Errorf("%s appears twice, first on line %d; remove one of the lines", name, first)
	}
	s[name] = number
	return nil
}

// lineErrors collects the errors of lines.
type lineErrors struct {
	file string
	errs []error
}

// add adds the error of a line, if there is one.
func (e *lineErrors) add(number int, err error) {
	if err != nil {
		e.errs = append(e.errs, fmt.Errorf("%s:%d: %w", e.file, number, err))
	}
}

func (e *lineErrors) joined() error { return errors.Join(e.errs...) }
