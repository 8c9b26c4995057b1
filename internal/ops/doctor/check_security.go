package doctor

import (
	"context"
	"fmt"
	"net"
)

// checkSecurity reports settings of a daemon that give others more rights than they need.
func checkSecurity(_ context.Context, t *Target, d *Daemon) []Finding {
	if open := append(openDoors(d), rootRules(t, d)...); len(open) > 0 {
		return open
	}
	return []Finding{ok("%s: nothing to report", d.describe())}
}

// openDoors reports what a daemon offers to other machines.
func openDoors(d *Daemon) (found []Finding) {
	if !isLoopback(d.Address) {
		found = append(found, warn("let a firewall admit only the machines of the cluster and its clients",
			"%s: --address %s accepts other machines; calls are not encrypted, and the token gives all rights", d.describe(), d.Address))
	}
	if !isLoopback(d.HTTP) {
		text := "metrics without the token"
		if d.Profiles {
			text += ", and profiles with it"
		}
		found = append(found, warn("set --http to 127.0.0.1, or let a firewall admit only the monitoring", "%s: --http %s shows other machines %s", d.describe(), d.HTTP, text))
	}
	if d.Drills {
		found = append(found, warn("remove --drills from a cluster that does real work", "%s: --drills lets holders of the token make it fail", d.describe()))
	}
	return found
}

// firstUserUID is the lowest uid of people on most systems.
const firstUserUID = 1000

// rootRules reports what a daemon does with the rights of root.
func rootRules(t *Target, d *Daemon) (found []Finding) {
	switch {
	case t.UID != 0:
	case d.Kind == Jobmaster:
		found = append(found, warn("run it as a user of its own", "%s: would run as root, whose rights it does not need", d.describe()))
	case d.Tasknode.RunAsDaemonUser:
		found = append(found, warn("remove --own-user, or run it as another user", "%s: --own-user runs the programs of all users as root", d.describe()))
	case d.Tasknode.MinUID < firstUserUID:
		found = append(found, warn(fmt.Sprintf("set --min-uid %d", firstUserUID), "%s: --min-uid %d lets system accounts run tasks", d.describe(), d.Tasknode.MinUID))
	}
	return found
}

// isLoopback reports whether only this machine reaches host:port. A host name counts as its addresses.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return false
	}
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	addresses, err := net.LookupIP(host)
	for _, ip := range addresses {
		if !ip.IsLoopback() {
			return false
		}
	}
	return err == nil
}
