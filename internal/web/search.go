package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs"
)

// Hit is an object that a search has found.
type Hit struct {
	Kind string `json:"kind"` // job, task, attempt, node, pool or user
	ID   string `json:"id"`
	Name string `json:"name,omitempty"` // of a job
	URL  string `json:"url"`            // of its page
}

// maxHits bounds the answer of a search.
const maxHits = 20

// exact returns the object that an id names by its form, nil if the form is not known. The
// object need not exist.
func exact(id string) *Hit {
	id = strings.TrimSpace(id)
	if rest, ok := strings.CutPrefix(id, "application_"); ok { // what YARN calls a job
		id = "job_" + rest
	}
	if _, err := cluster.ParseJobID(id); err == nil {
		return &Hit{Kind: "job", ID: id, URL: "/jobs/" + id}
	}
	if t, err := cluster.ParseTaskID(id); err == nil {
		return &Hit{Kind: "task", ID: id, URL: "/jobs/" + t.Job.String() + "/tasks/" + id}
	}
	if a, err := cluster.ParseAttemptID(id); err == nil {
		return &Hit{Kind: "attempt", ID: id, URL: attemptURL(a)}
	}
	return nil
}

// attemptURL returns the place of an attempt on the page of its task.
func attemptURL(a cluster.AttemptID) string {
	return "/jobs/" + a.Task.Job.String() + "/tasks/" + a.Task.String() + "#" + a.String()
}

// search returns the objects whose id or name contains a text: jobs, tasknodes, pools and users. An
// id of a job, task or attempt is found without asking the cluster.
func (c *call) search(text string) (hits []Hit) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if hit := exact(text); hit != nil {
		return []Hit{*hit}
	}
	for _, n := range read(c, docs.Nodes, docs.No{}) {
		hits = appendMatch(hits, Hit{Kind: "node", ID: n.Name, URL: "/nodes/" + url.PathEscape(n.Name)}, text)
	}
	for _, q := range read(c, docs.Pools, docs.No{}) {
		hits = appendMatch(hits, Hit{Kind: "pool", ID: q.Name, URL: "/jobs?pool=" + url.QueryEscape(q.Name)}, text)
	}
	hits = append(hits, c.searchJobs(text)...)
	return hits[:min(len(hits), maxHits)]
}

// searchJobs returns jobs by a part of their id or name, and the user of that name. Any job has the
// text "".
func (c *call) searchJobs(text string) (hits []Hit) {
	if text != "" {
		if page := optional(c, docs.Jobs, docs.JobQuery{User: text, Page: docs.Page{Limit: 1}}); page.Total > 0 {
			hits = append(hits, Hit{Kind: "user", ID: text, Name: fmt.Sprintf("%d jobs", page.Total), URL: "/jobs?user=" + url.QueryEscape(text)})
		}
	}
	for _, j := range read(c, docs.Jobs, docs.JobQuery{Text: text, Page: docs.Page{Limit: maxHits}}).Jobs {
		hits = append(hits, Hit{Kind: "job", ID: j.JobID, Name: j.Name, URL: "/jobs/" + url.PathEscape(j.JobID)})
	}
	return hits
}

// appendMatch adds a hit if its id contains a text, in any case of letters. An equal id comes first.
func appendMatch(hits []Hit, h Hit, text string) []Hit {
	switch {
	case strings.EqualFold(h.ID, text):
		return append([]Hit{h}, hits...)
	case strings.Contains(strings.ToLower(h.ID), strings.ToLower(text)):
		return append(hits, h)
	}
	return hits
}

// showSearch leads to the object if there is one, and lists what it has found otherwise.
func showSearch(c *call) error {
	text := strings.TrimSpace(c.params["q"])
	hits := c.search(text)
	if c.err == nil && (len(hits) == 1 || len(hits) > 0 && hits[0].ID == text) {
		return c.redirect(hits[0].URL)
	}
	return c.render(http.StatusOK, "search", "Search", struct {
		Text string
		Hits []Hit
	}{text, hits})
}

// suggest returns objects that the caller may have meant by the id in an unknown path.
func (c *call) suggest() []Hit {
	id := cmp.Or(c.params["job"], c.params["attempt"], c.params["node"])
	if job := docs.JobOf(id); job != "" {
		id = job
	}
	if id == "" {
		return nil
	}
	var hits []Hit
	switch {
	case c.params["node"] != "":
		for _, n := range read(c, docs.Nodes, docs.No{}) {
			hits = append(hits, Hit{Kind: "node", ID: n.Name, URL: "/nodes/" + url.PathEscape(n.Name)})
		}
	default:
		number := id[strings.LastIndexByte(id, '_')+1:] // a job of another cluster has the same form
		hits = c.searchJobs(number)
		if len(hits) == 0 {
			hits = c.searchJobs("")
		}
	}
	return hits[:min(len(hits), 5)]
}

// unknown returns the id in an unknown path, "" if it has none.
func (c *call) unknown() string {
	return cmp.Or(c.params["attempt"], c.params["task"], c.params["job"], c.params["node"])
}

// whyUnknown says why a job, task or attempt can be unknown, "" for others.
func (c *call) whyUnknown() string {
	job := cmp.Or(docs.JobOf(c.unknown()), c.unknown())
	id, err := cluster.ParseJobID(job)
	if err != nil {
		return ""
	}
	if here := c.masters().Cluster; here != "" && id.Cluster != here {
		return fmt.Sprintf("The id is of cluster %s; these are the pages of cluster %s.", id.Cluster, here)
	}
	return "Jobs that finished long ago are removed after the retention time of the masters."
}

// searchUnknown returns the URL of a search for the id in an unknown path. A whole id of a job, task or
// attempt would lead back to the same page, so its number is searched for.
func (c *call) searchUnknown() string {
	id := c.unknown()
	if job := cmp.Or(docs.JobOf(id), id); exact(job) != nil {
		id = job[strings.LastIndexByte(job, '_')+1:]
	}
	if id == "" {
		return ""
	}
	return "/search?q=" + url.QueryEscape(id)
}

// redirect leads the browser to another page.
func (c *call) redirect(to string) error {
	c.w.Header().Set("Location", c.inBase(to))
	c.w.WriteHeader(http.StatusSeeOther)
	return nil
}
