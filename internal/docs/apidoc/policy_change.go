package apidoc

// PolicyChange is the latest change of the policy that a user has asked for.
type PolicyChange struct {
	By     string            `json:"by,omitempty"` // absent if the user is unknown
	Time   int64             `json:"time"`
	Policy string            `json:"policy"` // before the change
	Conf   map[string]string `json:"conf,omitempty"`
}

// PolicyKind describes a policy that can be chosen.
type PolicyKind struct {
	Name     string          `json:"policy"`
	Settings []PolicySetting `json:"settings"`
}

// PolicySetting describes a setting of a policy.
type PolicySetting struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"` // bool, integer, number, ms, choice or text
	Default string   `json:"default,omitempty"`
	Range   string   `json:"range"`            // of its values, for people
	Values  []string `json:"values,omitempty"` // of a choice
	Doc     string   `json:"doc"`
}

// PolicyPreview says what a policy would do if it replaced the present one now.
type PolicyPreview struct {
	Policy      string              `json:"policy"`
	Conf        map[string]string   `json:"conf,omitempty"`
	Pools       []PoolPreview       `json:"pools"`
	Preempted   int32               `json:"preempted"`   // attempts that would lose their slots at once
	Preemptions []PreemptionPreview `json:"preemptions"` // at most 200 of them
	Started     int32               `json:"started"`     // tasks that would start or resume at once
	Expected    string              `json:"expected"`    // identifies the present policy, for the change
	Time        int64               `json:"time"`
}

// PoolPreview is a pool under two policies.
type PoolPreview struct {
	Name    string `json:"name"`
	Running Slots  `json:"running"`
	Before  *Share `json:"before,omitempty"` // fair share under the present policy; absent if it has none
	After   *Share `json:"after,omitempty"`  // under the other one
	Loses   Slots  `json:"loses"`            // slots of the preemptions
}

// PreemptionPreview is an attempt that would lose its slot.
type PreemptionPreview struct {
	Attempt string `json:"attempt"`
	Job     string `json:"jobId"`
	Pool    string `json:"pool"`
	Node    string `json:"node"`
	Slot    string `json:"slot"`
	Mode    string `json:"mode"`
	Cause   string `json:"cause,omitempty"`
}

// Decision is a decision of the scheduler, as docs/formats/decisions.md describes it.
type Decision struct {
	Number  uint64   `json:"number"` // from 1, in the order in which they were made
	At      int64    `json:"at"`
	Kind    string   `json:"kind"`
	Policy  string   `json:"policy,omitempty"`
	Pool    string   `json:"pool,omitempty"`
	Job     string   `json:"job,omitempty"`
	Stage   string   `json:"stage,omitempty"`
	Task    string   `json:"task,omitempty"`
	Attempt string   `json:"attempt,omitempty"`
	Node    string   `json:"machine,omitempty"`
	Slot    string   `json:"slot"`
	Slots   int      `json:"slots,omitempty"`
	Share   *float64 `json:"share,omitempty"`
	Place   string   `json:"place,omitempty"`
	Mode    string   `json:"how,omitempty"`
	For     string   `json:"for,omitempty"`
	ForPool string   `json:"forPool,omitempty"`
	Until   int64    `json:"until,omitempty"`
	Cause   string   `json:"cause,omitempty"`
}

// Decisions is a page of the latest decisions, the latest first.
type Decisions struct {
	Decisions []Decision `json:"decisions"`
	Before    uint64     `json:"before,omitempty"` // parameter before of the next page; absent on the last
	Kept      uint64     `json:"kept"`             // all decisions that the leader has
	Since     int64      `json:"since"`            // time of the first of them; 0 if there is none
	Full      bool       `json:"full"`             // offers, skips and shares are among them; else from now on
}
