package tasknode

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Topology finds the rack of a machine as Hadoop does: in a table, or else with a
// script. The zero value knows no racks.
type Topology struct {
	// Table is a file with a host and its rack on each line; "" for none.
	Table string
	// Script is a program that gets hosts as arguments and prints the rack of each of them,
	// in order; "" for none.
	Script string
	// ScriptArgs is how many hosts one run of the script gets; default 100.
	ScriptArgs int
}

// scriptTimeout bounds one run of the script.
const scriptTimeout = time.Minute

// defaultRack is the rack that Hadoop's scripts print for unknown hosts.
const defaultRack = "/default-rack"

// Rack returns the rack of the machine with these names and addresses, for example "/rack1";
// "" if it is unknown.
//
// A machine has several names and addresses, and a table or script may know only some of
// them. Rack returns the first rack that is not the default rack.
func (t Topology) Rack(ctx context.Context, hosts []string) (string, error) {
	if rack, err := t.lookUp(hosts); rack != "" || err != nil {
		return rack, err
	}
	if t.Script == "" {
		return "", nil
	}
	var racks []string
	for part := range slices.Chunk(hosts, cmp.Or(t.ScriptArgs, 100)) {
		found, err := t.run(ctx, part)
		if err != nil {
			return "", fmt.Errorf("topology script %s: %w", t.Script, err)
		}
		racks = append(racks, found...)
	}
	for _, rack := range racks {
		if rack != defaultRack {
			return rack, nil
		}
	}
	return slices.Concat(racks, []string{""})[0], nil
}

// lookUp searches the table.
func (t Topology) lookUp(hosts []string) (string, error) {
	if t.Table == "" {
		return "", nil
	}
	f, err := os.Open(t.Table)
	if err != nil {
		return "", fmt.Errorf("topology table: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) >= 2 && slices.Contains(hosts, fields[0]) {
			return fields[1], nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("topology table %s: %w", t.Table, err)
	}
	return "", nil
}

// run runs the script for some hosts and returns their racks.
func (t Topology) run(ctx context.Context, hosts []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, scriptTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, t.Script, hosts...).Output()
	if err != nil {
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
		}
		return nil, err
	}
	racks := strings.Fields(string(out))
	if len(racks) != len(hosts) {
		return nil, fmt.Errorf("%d racks for %d hosts; expected one line for each of %s", len(racks), len(hosts), strings.Join(hosts, " "))
	}
	return racks, nil
}
