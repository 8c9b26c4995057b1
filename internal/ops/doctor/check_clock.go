package doctor

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/protocol"
)

// Limits of the difference of two clocks. Kerberos and people who read logs need them to agree. Masters measure
// durations by themselves and are not affected.
const (
	clockWarn  = 2 * time.Second
	clockFault = 5 * time.Second
)

const clockRemedy = "synchronize the clocks of both machines, for example by chrony or systemd-timesyncd"

// checkClock compares this machine's clock with that of a master.
func checkClock(ctx context.Context, _ *Target, master string) Finding {
	a, err := askMaster(ctx, master)
	if err != nil {
		return noAnswer(master, err)
	}
	date, err := http.ParseTime(a.header.Get("Date"))
	if err != nil {
		return skipped("master %s: its answer has no date", master)
	}
	ahead, uncertainty := offset(date, a.before, a.after)
	return judgeClock("master "+master, "this machine's", ahead, uncertainty)
}

func noAnswer(address string, err error) Finding {
	return warn("start the master, or correct its address or the firewall", "master %s does not answer: %s", address, oneLine(err))
}

// offset returns by how much another clock is ahead of this one. date is its time in whole seconds, rounded down,
// at some moment from before to after.
func offset(date, before, after time.Time) (ahead, uncertainty time.Duration) {
	least, most := date.Sub(after), date.Add(time.Second).Sub(before)
	return (least + most) / 2, (most - least) / 2
}

// judgeClock judges the difference of two clocks. The limits apply to what is certain.
func judgeClock(who, other string, ahead, uncertainty time.Duration) Finding {
	direction := "ahead of"
	if ahead < 0 {
		direction = "behind"
	}
	text := fmt.Sprintf("%s: its clock is %v %s %s", who, ahead.Abs().Round(10*time.Millisecond), direction, other)
	if uncertainty > 0 {
		text = fmt.Sprintf("%s (± %v)", text, uncertainty.Round(10*time.Millisecond))
	}
	switch certain := ahead.Abs() - uncertainty; {
	case certain >= clockFault:
		return fault(clockRemedy, "%s", text)
	case certain >= clockWarn:
		return warn(clockRemedy, "%s", text)
	}
	return ok("%s", text)
}

// checkVersion compares this program with a master: the protocol, which the master says to any caller, and the
// release, which a cluster says to holders of the token.
func checkVersion(ctx context.Context, t *Target, master string) Finding {
	a, err := askMaster(ctx, master)
	if err != nil {
		return noAnswer(master, err)
	}
	return judgeVersion(master, a.header.Get(rpc.HeaderProtocol), t.releaseOf(master), t.Version)
}

// releaseOf returns the release of a master, "" if it is not known.
func (t *Target) releaseOf(address string) string {
	if t.View == nil {
		return ""
	}
	for _, m := range t.View.Masters {
		if m.Address == address {
			return m.Info.GetVersion()
		}
	}
	return ""
}

// judgeVersion compares the versions of the protocol and the release of a master with those of
// this program.
func judgeVersion(address, accepted, release, own string) Finding {
	const remedy = "install one release on all machines"
	versions, err := protocol.Parse(accepted)
	_, common := rpc.Protocol.Common(versions)
	switch {
	case err != nil || !common:
		return fault(remedy, "master %s accepts version %s of the protocol, this program %v", address, accepted, rpc.Protocol)
	case release != "" && own != "" && release != own:
		return warn(remedy, "master %s is %s, this program is %s", address, release, own)
	case release == "":
		return ok("master %s accepts version %s of the protocol, as this program does", address, accepted)
	}
	return ok("master %s is %s", address, release)
}
