package jobmaster

import (
	"encoding/json"

	"github.com/hammr/hammr/sched"
)

// writeDecisions writes decisions down for those who want to know. A file that cannot be
// written is not worth an end: the log hears of it once a lead.
func (m *Master) writeDecisions(decisions []sched.Decision) {
	if len(decisions) == 0 || m.cfg.Decisions == nil {
		return
	}
	var text []byte
	for _, d := range decisions {
		d.Policy = m.view.Policy()
		line, err := json.Marshal(d)
		if err != nil {
			m.cfg.Logger.Warn("a decision is not written", "decision", d, "error", err)
			continue
		}
		text = append(append(text, line...), '\n')
	}
	if _, err := m.cfg.Decisions.Write(text); err != nil && !m.decisionsFailed {
		m.decisionsFailed = true
		m.cfg.Logger.Warn("decisions are not written", "error", err)
	}
}
