package doctor

import (
	"context"
	"fmt"
	"strings"
)

// checkMasters examines whether the cluster has a leader, and how many more masters it may lose.
func checkMasters(_ context.Context, t *Target) []Finding { return judgeMasters(t.View) }

func judgeMasters(v *View) (found []Finding) {
	if v.Err != nil {
		return []Finding{fault("start the masters, or correct --master, --token-file or the firewall", "no master answers: %s", oneLine(v.Err))}
	}
	answering := 0
	for _, m := range v.Masters {
		if m.Err != nil {
			found = append(found, fault("start the master, or replace it; see its log", "%s at %s does not answer: %s", m.ID, m.Address, oneLine(m.Err)))
			continue
		}
		answering++
		found = append(found, ok("%s at %s: %s", m.ID, m.Address, m.own().GetState()))
	}
	return append(found, judgeLeader(v), judgeMajority(answering, len(v.Masters)))
}

// judgeLeader reports a cluster without a leader, and masters of one term that know different leaders.
func judgeLeader(v *View) Finding {
	leader, term := v.leader()
	var others []string
	for _, m := range v.Masters {
		if m.Info != nil && m.Info.Term == term && m.Info.Leader != leader {
			others = append(others, fmt.Sprintf("%s knows %q", m.ID, m.Info.Leader))
		}
	}
	switch {
	case leader == "":
		return fault("start masters until a majority runs, and let them reach each other", "no master leads in term %d", term)
	case len(others) > 0:
		return warn("look again in a moment; if it stays so, look at the network between the masters", "%s leads in term %d, but %s", leader, term, strings.Join(others, ", "))
	}
	return ok("%s leads in term %d", leader, term)
}

// judgeMajority reports how many masters may fail. A cluster with one master is what its owner has chosen.
func judgeMajority(answering, all int) Finding {
	spare := answering - (all/2 + 1)
	switch {
	case spare < 0:
		return fault("start masters until a majority runs", "%d of %d masters answer, which is no majority", answering, all)
	case all%2 == 0:
		return warn("add or remove a master, so that the number is odd", "%d of %d masters answer; an even number survives no more failures than one less", answering, all)
	case spare == 0 && all > 1:
		return warn("start the masters that do not answer", "%d of %d masters answer; if one more fails, the cluster stops", answering, all)
	}
	return ok("%d of %d masters answer, and %d may fail", answering, all, spare)
}

// maxLag is how many entries a follower may be behind the leader; both are read one after the other.
const maxLag = 10_000

// checkReplication compares the logs of the masters by the metrics of their pages. Most pages listen on a loopback
// address, which only their own machine reaches.
func checkReplication(ctx context.Context, t *Target) (found []Finding) {
	leader, _ := t.View.leader()
	committed := make(map[string]float64)
	for _, m := range t.View.Masters {
		if index, known := m.commitIndex(ctx); known {
			committed[m.ID] = index
		}
	}
	for _, m := range t.View.Masters {
		index, known := committed[m.ID]
		ahead, leaderKnown := committed[leader]
		switch {
		case m.Info == nil:
		case !known:
			found = append(found, skipped("%s: its page is not reachable from here", m.ID))
		case m.ID == leader:
			found = append(found, ok("%s: leads, entry %.0f is committed", m.ID, index))
		case !leaderKnown:
			found = append(found, skipped("%s: the page of the leader is not reachable from here", m.ID))
		default:
			found = append(found, judgeLag(m.ID, index, ahead))
		}
	}
	return orSkipped(found, "no master answers")
}

func judgeLag(id string, index, leader float64) Finding {
	if behind := leader - index; behind > maxLag {
		return warn("look at the load of its disk and its network; do not stop another master until it has caught up", "%s: %.0f entries behind the leader", id, behind)
	}
	return ok("%s: entry %.0f of %.0f is committed", id, index, leader)
}

// commitIndex returns the latest committed entry that a master knows, if this machine reaches its page. A page on a
// loopback address may be that of another master, on this machine.
func (m *MasterView) commitIndex(ctx context.Context) (float64, bool) {
	page := m.own().GetHttp()
	if page == "" || !pageBelongsTo(ctx, page, Jobmaster, m.ID) {
		return 0, false
	}
	return metric(ctx, page, "hammr_raft_commit_index")
}
