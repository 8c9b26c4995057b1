package doctor

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/tasknode/process"
)

// checkUsers looks up users as a tasknode that runs as root does.
func checkUsers(ctx context.Context, t *Target) (found []Finding) {
	if len(t.Users) == 0 {
		return []Finding{skipped("no users; name those who submit jobs with --user")}
	}
	for _, d := range t.ofKind(Tasknode) {
		if t.UID != 0 || d.Tasknode.RunAsDaemonUser {
			found = append(found, ok("%s: runs tasks of all users as itself", d.describe()))
			continue
		}
		for _, user := range t.Users {
			found = append(found, checkUser(ctx, d, user))
		}
	}
	return orSkipped(found, "no configuration of a tasknode")
}

func checkUser(ctx context.Context, d *Daemon, user string) Finding {
	uid, err := process.CheckUser(ctx, user, uint32(d.Tasknode.MinUID), d.Tasknode.BannedUsers)
	if err != nil {
		return fault(fmt.Sprintf("make an account on each machine, or let getent find one: getent passwd %s; or see --min-uid and --banned-users", user),
			"%s: user %s: %s", d.describe(), user, oneLine(err))
	}
	return ok("%s: user %s has uid %d", d.describe(), user, uid)
}
