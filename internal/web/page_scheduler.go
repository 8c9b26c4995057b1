package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web/access"
	"github.com/hammr/hammr/sched/registry"
)

// undoTime is how long a change of the policy can be undone on the page.
const undoTime = 10 * time.Minute

// policyActions are the changes of the policy. They differ from Actions: the object has no id.
var policyActions = []*ActionKind{
	{Object: "policy", Do: "set", Verb: access.Operate, Call: "SetPolicy", Done: "changed", Param: &Param{Name: "policy"}},
	{Object: "policy", Do: "undo", Verb: access.Operate, Call: "SetPolicy", Done: "as it was before"},
}

// schedulerRoutes are the pages and calls of the policy and its decisions.
func schedulerRoutes() (routes []*Route) {
	policy := Param{Name: "policy", Doc: "name of a policy (default the present one)"}
	wanted := Param{Name: "policy", Required: true, Doc: "name of a policy"}
	expected := Param{Name: "expected", Doc: "fingerprint of the policy that is replaced; another one is refused (default any)"}
	confirm := Param{Name: "confirm", Doc: "name of the policy, if it takes slots from running attempts"}
	settings := settingParams()
	add := func(path string, verb access.Verb, answer any, doc string, serve func(*call) error, action *ActionKind, params ...Param) {
		rt := &Route{Path: path, Verb: verb, Object: "policy", Params: params, Answer: answer, Doc: doc, Serve: serve, action: action}
		if action != nil {
			rt.Method = http.MethodPost
		}
		routes = append(routes, rt)
	}
	with := func(params ...Param) []Param { return append(params, settings...) }
	add("/scheduler", access.View, nil, "The scheduling policy, and a form to change it.", showScheduler, nil, page(policy)...)
	add("/scheduler/preview", access.View, nil, "What a policy would do now.", showPreview, nil, page(with(policy)...)...)
	add("/scheduler/decisions", access.View, nil, "The latest decisions of the scheduler.", showDecisions, nil, page(decisionParams...)...)
	add("/scheduler/set", access.Operate, nil, "Replaces the policy and all of its settings.", setPolicyFromForm, policyActions[0], with(wanted, expected, confirm)...)
	add("/scheduler/undo", access.Operate, nil, "Sets the policy that was before the last change.", undoFromForm, policyActions[1], expected)
	add(apiRoot+"/scheduler/policies", access.View, []apidoc.PolicyKind{}, "The policies that can be chosen, with their settings.", answerPolicies, nil)
	add(apiRoot+"/scheduler/preview", access.View, apidoc.PolicyPreview{}, "What a policy would do now.", answerPreview, nil, with(policy)...)
	add(apiRoot+"/scheduler/decisions", access.View, apidoc.Decisions{}, "The latest decisions of the scheduler, the latest first.", answerDecisions, nil, decisionParams...)
	add(apiRoot+"/scheduler/set", access.Operate, apidoc.Change{}, "Replaces the policy and all of its settings.", setPolicyFromAPI, policyActions[0], with(wanted, expected)...)
	add(apiRoot+"/scheduler/undo", access.Operate, apidoc.Change{}, "Sets the policy that was before the last change.", undoFromAPI, policyActions[1], expected)
	return routes
}

// decisionParams are the parameters of lists of decisions.
var decisionParams = []Param{
	{Name: "job", Doc: "id of the job, or of the job that gets the slot"},
	{Name: "pool", Doc: "pool of the job, or the pool that gets the slot"},
	{Name: "node", Doc: "tasknode of the slot"},
	{Name: "kind", Enum: decisionKinds, Doc: "kind of the decisions"},
	{Name: "before", Doc: "only decisions with a lower number"},
	limitParam,
}

var decisionKinds = []string{"launch", "resume", "preempt", "offer", "skip", "share"}

// settingParams returns a parameter for each setting of any policy.
func settingParams() (params []Param) {
	for _, kind := range policyKinds() {
		for _, s := range kind.Settings {
			if !slices.ContainsFunc(params, func(p Param) bool { return p.Name == s.Name }) {
				params = append(params, Param{Name: s.Name, Doc: s.Doc})
			}
		}
	}
	return params
}

// policyKinds describes the policies of this program.
func policyKinds() (kinds []apidoc.PolicyKind) {
	for _, name := range registry.Names() {
		kind := apidoc.PolicyKind{Name: name}
		for _, s := range append(registry.Settings(name), registry.SharedSettings()...) {
			if s.Name == registry.AllocationFile { // its content belongs to it, so a form cannot set it
				continue
			}
			kind.Settings = append(kind.Settings, apidoc.PolicySetting{Name: s.Name, Type: string(s.Type), Default: s.Default, Range: s.Range, Values: s.Values, Doc: s.Doc})
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// settingRow is a setting in the form.
type settingRow struct {
	apidoc.PolicySetting
	Value   string
	Changed bool // Value is not the default
}

// newSettingRows returns the settings of a policy with their values, those that are not at their
// defaults first.
func newSettingRows(policy string, conf map[string]string) (rows []settingRow) {
	for _, kind := range policyKinds() {
		if kind.Name != policy {
			continue
		}
		for _, s := range kind.Settings {
			value, set := conf[s.Name]
			rows = append(rows, settingRow{s, value, set && value != s.Default})
		}
	}
	slices.SortStableFunc(rows, func(a, b settingRow) int {
		switch {
		case a.Changed == b.Changed:
			return 0
		case a.Changed:
			return -1
		}
		return 1
	})
	return rows
}

// schedulerData is the page of the scheduler.
type schedulerData struct {
	apidoc.Policy
	Names    []string // of policies
	Chosen   string   // policy whose settings the form has
	Settings []settingRow
	Undo     *apidoc.PolicyChange // nil if there is nothing to undo
	UndoLeft int64                // ms
	Audit    apidoc.Audit
}

// policy returns the present policy.
func (c *call) policy() (apidoc.Policy, error) {
	a, err := c.cfg.Source.Policy(c.ctx)
	return use(c, a, err)
}

func showScheduler(c *call) error {
	policy, err := c.policy()
	if err != nil {
		return err
	}
	d := schedulerData{Policy: policy, Names: registry.Names(), Chosen: cmp.Or(c.params["policy"], policy.Policy), Audit: c.auditOf(AuditQuery{Object: "policy"})}
	d.Settings = newSettingRows(d.Chosen, policy.Conf)
	if d.UndoLeft = c.undoLeft(policy); d.UndoLeft > 0 {
		d.Undo = policy.LastChange
	}
	return c.render(http.StatusOK, "scheduler", "Scheduler", d,
		Command{"the policy", "hammr scheduler show"}, Command{"another policy", "hammr scheduler set POLICY --conf NAME=VALUE"}, whatIf())
}

// undoLeft returns for how long the last change of the policy can be undone, in ms; 0 if it cannot.
func (c *call) undoLeft(p apidoc.Policy) int64 {
	if p.LastChange == nil {
		return 0
	}
	return max(0, p.LastChange.Time+undoTime.Milliseconds()-c.cfg.Now().UnixMilli())
}

// wantedPolicy returns the policy that the parameters describe. Settings at their defaults are left
// out, and the pools of the present policy are kept if the wanted one has pools.
func (c *call) wantedPolicy() (PolicyChange, error) {
	present, err := c.policy()
	if err != nil {
		return PolicyChange{}, err
	}
	w := PolicyChange{Policy: cmp.Or(c.params["policy"], present.Policy), Conf: make(map[string]string), Expected: c.params["expected"], User: c.caller.Name}
	byDefault := make(map[string]string)
	for _, s := range newSettingRows(w.Policy, nil) {
		byDefault[s.Name] = s.Default
	}
	for _, p := range settingParams() {
		if value := strings.TrimSpace(c.params[p.Name]); value != "" && value != byDefault[p.Name] {
			w.Conf[p.Name] = value
		}
	}
	for _, name := range []string{registry.AllocationFile, registry.Allocations} {
		if value := present.Conf[name]; value != "" && registry.HasPools(w.Policy, w.Conf) {
			w.Conf[name] = value
		}
	}
	return w, nil
}

// command returns the command that sets a policy. The content of an allocation file is read by the
// command.
func (w *PolicyChange) command() string {
	text := "hammr scheduler set " + shellWord(w.Policy)
	for _, name := range slices.Sorted(maps.Keys(w.Conf)) {
		if name != registry.Allocations {
			text += " --conf " + shellWord(name+"="+w.Conf[name])
		}
	}
	return text
}

func showPreview(c *call) error {
	w, err := c.wantedPolicy()
	if err != nil {
		return err
	}
	a, err := c.cfg.Source.PreviewPolicy(c.ctx, w)
	preview, err := use(c, a, err)
	if err != nil {
		return err
	}
	conf := maps.Clone(w.Conf)
	delete(conf, registry.AllocationFile) // the form keeps it
	delete(conf, registry.Allocations)
	return c.render(http.StatusOK, "preview", "Preview of "+w.Policy, struct {
		apidoc.PolicyPreview
		Fields  map[string]string
		Command string
	}{preview, conf, w.command()}, Command{"the change", w.command()})
}

func answerPreview(c *call) error {
	w, err := c.wantedPolicy()
	if err != nil {
		return err
	}
	a, err := c.cfg.Source.PreviewPolicy(c.ctx, w)
	return answer(c, a, err)
}

func answerPolicies(c *call) error { return c.json(policyKinds()) }

// setPolicyFromForm sets a policy. If it takes slots from running attempts, the user must have typed
// its name.
func setPolicyFromForm(c *call) error {
	w, err := c.wantedPolicy()
	if err != nil {
		return err
	}
	if c.params["confirm"] != w.Policy {
		a, err := c.cfg.Source.PreviewPolicy(c.ctx, w)
		if err != nil {
			return err
		}
		if n := a.Value.Preempted; n > 0 {
			return &badParam{"confirm", fmt.Sprintf("%q: the policy takes the slots of %d running attempts; type %s to confirm", c.params["confirm"], n, w.Policy)}
		}
	}
	if _, err := c.cfg.Source.SetPolicy(c.ctx, w); err != nil {
		return err
	}
	return c.redirectDone("/scheduler", "policy.set")
}

func setPolicyFromAPI(c *call) error {
	w, err := c.wantedPolicy()
	if err != nil {
		return err
	}
	change, err := c.cfg.Source.SetPolicy(c.ctx, w)
	if err != nil {
		return err
	}
	return c.json(change)
}

// undo sets the policy that was before the last change.
func (c *call) undo() (apidoc.Change, error) {
	p, err := c.policy()
	if err != nil {
		return apidoc.Change{}, err
	}
	if c.undoLeft(p) == 0 {
		return apidoc.Change{}, fmt.Errorf("no change of the policy in the last %v can be undone: %w", undoTime, ErrRefused)
	}
	return c.cfg.Source.SetPolicy(c.ctx, PolicyChange{
		Policy: p.LastChange.Policy, Conf: p.LastChange.Conf, Expected: cmp.Or(c.params["expected"], p.Fingerprint), User: c.caller.Name,
	})
}

func undoFromForm(c *call) error {
	if _, err := c.undo(); err != nil {
		return err
	}
	return c.redirectDone("/scheduler", "policy.undo")
}

func undoFromAPI(c *call) error {
	change, err := c.undo()
	if err != nil {
		return err
	}
	return c.json(change)
}

// decisions returns the decisions that the parameters select.
func (c *call) decisions() (Answer[apidoc.Decisions], error) {
	limit, _ := strconv.Atoi(c.params["limit"]) // checked already
	q := DecisionQuery{Job: c.params["job"], Pool: c.params["pool"], Node: c.params["node"], Kind: c.params["kind"], Limit: limit}
	if _, err := cluster.ParseJobID(q.Job); q.Job != "" && err != nil {
		return Answer[apidoc.Decisions]{}, &badParam{"job", fmt.Sprintf("%.100q: expected the id of a job", q.Job)}
	}
	if text := c.params["before"]; text != "" {
		var err error
		if q.Before, err = strconv.ParseUint(text, 10, 64); err != nil {
			return Answer[apidoc.Decisions]{}, &badParam{"before", fmt.Sprintf("%q: expected a number", text)}
		}
	}
	return c.cfg.Source.Decisions(c.ctx, q)
}

func answerDecisions(c *call) error {
	a, err := c.decisions()
	return answer(c, a, err)
}

func showDecisions(c *call) error {
	a, err := c.decisions()
	list, err := use(c, a, err)
	if err != nil {
		return err
	}
	v := &view{call: c}
	next, first := "", ""
	if list.Before > 0 {
		next = v.With("before", list.Before)
	}
	if c.params["before"] != "" {
		first = v.With("before", "")
	}
	q := c.r.URL.Query()
	q.Del("live")
	return c.render(http.StatusOK, "decisions", "Decisions", struct {
		apidoc.Decisions
		Kinds                 []string
		First, Next, CSV, API string
	}{list, decisionKinds, first, next, "", apiRoot + "/scheduler/decisions?" + q.Encode()})
}

// AttemptURL returns the page of the task or attempt of a decision, "" if it has none.
func (v *view) AttemptURL(d apidoc.Decision) string {
	switch {
	case d.Attempt != "":
		return "/attempts/" + url.PathEscape(d.Attempt)
	case d.Task != "":
		return "/jobs/" + url.PathEscape(d.Job) + "/tasks/" + url.PathEscape(d.Task)
	}
	return ""
}
