package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/sched/registry"
)

// undoTime is how long a change of the policy can be undone on the page.
const undoTime = 10 * time.Minute

// undoPolicy is a change of the policy that only pages and the API have.
var undoPolicy = &docs.Action{Object: "policy", Do: "undo", Verb: access.Operate, Call: "SetPolicy", Done: "as it was before", Doc: "Sets the policy that was before the last change."}

// schedulerRoutes are the pages of the policy and its decisions, and its changes.
func schedulerRoutes() []*Route {
	show := func(path, text string, serve func(*call) error, params ...docs.Param) *Route {
		return &Route{Path: path, Verb: access.View, Object: "policy", Params: page(params...), Doc: text, Serve: serve}
	}
	routes := []*Route{
		show("/scheduler", "The scheduling policy, and a form to change it.", showScheduler, docs.Preview.Params()...),
		show("/scheduler/preview", "What a policy would do now.", showPreview, append(docs.Preview.Params(), settingParams()...)...),
		show("/scheduler/decisions", "The latest decisions of the scheduler.", showDecisions, docs.Decisions.Params()...),
	}
	expected := docs.Param{Name: "expected", Doc: "fingerprint of the policy that is replaced; another one is refused (default any)"}
	set := append([]docs.Param{{Name: "policy", Required: true, Doc: "name of a policy"}, expected}, settingParams()...)
	confirm := docs.Param{Name: "confirm", Doc: "name of the policy, if it takes slots from running attempts"}
	routes = append(routes, changeRoutes("/scheduler/set", docs.ActionOf("policy.set"), set, []docs.Param{confirm}, (*call).setPolicy)...)
	return append(routes, changeRoutes("/scheduler/undo", undoPolicy, []docs.Param{expected}, nil, (*call).undo)...)
}

// settingParams returns a parameter for each setting of any policy.
func settingParams() (params []docs.Param) {
	for _, kind := range policyKinds() {
		for _, s := range kind.Settings {
			if !slices.ContainsFunc(params, func(p docs.Param) bool { return p.Name == s.Name }) {
				params = append(params, docs.Param{Name: s.Name, Doc: s.Doc})
			}
		}
	}
	return params
}

// policyKinds describes the policies of this program.
func policyKinds() (kinds []apidoc.PolicyKind) {
	for _, name := range registry.Names() {
		kind := apidoc.PolicyKind{Name: name}
		for _, s := range append(registry.SettingsOf(name), registry.SharedSettings()...) {
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
	rank := map[bool]int{true: 0, false: 1}
	slices.SortStableFunc(rows, func(a, b settingRow) int { return rank[a.Changed] - rank[b.Changed] })
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

func showScheduler(c *call) error {
	policy := read(c, docs.Policy, docs.No{})
	d := schedulerData{Policy: policy, Names: registry.Names(), Chosen: cmp.Or(c.params["policy"], policy.Policy), Audit: optional(c, docs.Audit, docs.AuditQuery{Object: "policy"})}
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
func (c *call) wantedPolicy() docs.PolicyQuery {
	present := read(c, docs.Policy, docs.No{})
	w := docs.PolicyQuery{Policy: cmp.Or(c.params["policy"], present.Policy), Conf: make(map[string]string)}
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
	return w
}

// policyCommand returns the command that sets a policy. The content of an allocation file is read by the
// command.
func policyCommand(w docs.PolicyQuery) string {
	text := "hammr scheduler set " + shellWord(w.Policy)
	for _, name := range slices.Sorted(maps.Keys(w.Conf)) {
		if name != registry.Allocations {
			text += " --conf " + shellWord(name+"="+w.Conf[name])
		}
	}
	return text
}

func showPreview(c *call) error {
	w := c.wantedPolicy()
	preview := read(c, docs.Preview, w)
	conf := maps.Clone(w.Conf)
	delete(conf, registry.AllocationFile) // the form keeps it
	delete(conf, registry.Allocations)
	command := policyCommand(w)
	return c.render(http.StatusOK, "preview", "Preview of "+w.Policy, struct {
		apidoc.PolicyPreview
		Fields  map[string]string
		Command string
	}{preview, conf, command}, Command{"the change", command})
}

func answerPreview(c *call) error { return c.json(read(c, docs.Preview, c.wantedPolicy())) }

// setPolicy sets the wanted policy. A form that takes slots from running attempts must have the name of the
// policy, which the user types.
func (c *call) setPolicy(form bool) (apidoc.Change, error) {
	w := c.wantedPolicy()
	if form && c.params["confirm"] != w.Policy {
		if n := read(c, docs.Preview, w).Preempted; n > 0 {
			c.reject(docs.Bad("confirm", fmt.Sprintf("%q: the policy takes the slots of %d running attempts; type %s to confirm", c.params["confirm"], n, w.Policy)))
		}
	}
	return c.changePolicy(w.Policy, w.Conf, c.params["expected"])
}

// undo sets the policy that was before the last change.
func (c *call) undo(bool) (apidoc.Change, error) {
	p := read(c, docs.Policy, docs.No{})
	if c.undoLeft(p) == 0 {
		c.reject(fmt.Errorf("no change of the policy in the last %v can be undone: %w", undoTime, docs.ErrRefused))
		return apidoc.Change{}, c.err
	}
	return c.changePolicy(p.LastChange.Policy, p.LastChange.Conf, cmp.Or(c.params["expected"], p.Fingerprint))
}

// changePolicy changes the policy, unless what led to the change has failed.
func (c *call) changePolicy(policy string, conf map[string]string, expected string) (apidoc.Change, error) {
	if c.err != nil {
		return apidoc.Change{}, c.err
	}
	return c.cfg.Source.Change(c.ctx, docs.Change{Do: "policy.set", ID: policy, Conf: conf, Expected: expected, User: c.caller.Name})
}

func showDecisions(c *call) error {
	list := wanted(c, docs.Decisions)
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
	}{list, docs.DecisionKinds, first, next, "", apiRoot + "/scheduler/decisions?" + q.Encode()})
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
