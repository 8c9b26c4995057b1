package web

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/logs/profile"
	"github.com/hammr/hammr/internal/rpc/access"
	"github.com/hammr/hammr/internal/web/stacks"
)

const (
	maxProfiling = 4  // profiles that are taken at once
	maxProfiles  = 16 // profiles that are kept, each of profile.MaxBytes at most
)

// takenProfile is a profile that the server keeps.
type takenProfile struct {
	docs.ProfileQuery
	docs.ProfileData
	At int64 // ms
}

// profileRoutes take profiles and show them.
func profileRoutes() (routes []*Route) {
	for _, object := range []string{"attempt", "node", "master"} {
		path := "/" + object + "s/{" + object + "}/profile"
		params := []docs.Param{{Name: object, Required: true, Doc: "the " + object},
			{Name: "kind", Enum: profile.Kinds, Default: profile.CPU, Doc: "kind of the profile"},
			{Name: "seconds", Max: profile.MaxSeconds, Default: strconv.Itoa(profile.DefaultSeconds), Doc: "time that a profile of kind cpu covers"}}
		take := Route{Method: http.MethodPost, Verb: access.Profile, Object: object, Params: params, Patience: profile.MaxSeconds * time.Second}
		form, api := take, take
		form.Path, form.Serve, form.Doc = path, takeFromForm, "Takes a profile of the process, and leads to its page."
		api.Path, api.Serve, api.Answer, api.Doc = apiRoot+path, takeFromAPI, []byte{}, "Takes a profile of the process, in the format of pprof. Stacks are text."
		routes = append(routes, &form, &api)
	}
	key := docs.Param{Name: "profile", Required: true, Doc: "id of a profile that was taken"}
	return append(routes,
		&Route{Path: "/profiles/{profile}", Verb: access.Profile, Object: "profile", Heavy: true, Serve: showProfile, Doc: "Stacks, or how to read a profile.", Params: []docs.Param{key}},
		&Route{Path: "/profiles/{profile}/file", Verb: access.Profile, Object: "profile", Params: []docs.Param{key}, Serve: sendProfile, Doc: "A profile as a file, for go tool pprof."})
}

// take takes the profile that the request orders. The audit log has it.
func (c *call) take() (*takenProfile, error) {
	seconds, _ := strconv.Atoi(c.params["seconds"]) // checked already
	object := access.Object{Kind: c.route.Object, ID: c.params[c.route.Object]}
	p := &takenProfile{ProfileQuery: docs.ProfileQuery{Object: object.Kind, ID: object.ID, User: c.user(), Query: profile.Query{Kind: c.params["kind"], Seconds: seconds}}}
	if p.Object == "attempt" && taskOf(p.ID) == "" {
		return nil, fmt.Errorf("%.200q is not the id of an attempt: %w", p.ID, docs.ErrUnknown)
	}
	action := access.Action{Verb: c.route.Verb, Object: object, Call: "Profile", Detail: p.Kind, Unseen: true}
	err := c.cfg.Gate.Do(c.ctx, action, func() error {
		leave, err := enter(c.ctx, c.profiling, "profiles")
		if err != nil {
			return err
		}
		defer leave()
		p.ProfileData, err = c.cfg.Source.Profile(c.ctx, p.ProfileQuery)
		p.At = c.cfg.Now().UnixMilli()
		return err
	})
	return p, err
}

func takeFromForm(c *call) error {
	p, err := c.take()
	if err != nil {
		return err
	}
	id := rand.Text() // cannot be guessed
	c.profiles.set(id, p)
	return c.redirect("/profiles/" + id)
}

func takeFromAPI(c *call) error {
	p, err := c.take()
	if err != nil {
		return err
	}
	return c.sendFile(p)
}

func sendProfile(c *call) error {
	p, err := c.profile()
	if err != nil {
		return err
	}
	return c.sendFile(p)
}

// profile returns the profile that the request names.
func (c *call) profile() (*takenProfile, error) {
	p, known := c.profiles.get(c.params["profile"])
	if !known {
		return nil, fmt.Errorf("no profile %.40q: %s keeps the latest %d that were taken on its pages; take another one: %w", c.params["profile"], c.cfg.Name, maxProfiles, docs.ErrUnknown)
	}
	return p, nil
}

// sendFile answers with a profile. It can contain anything, so the browser must take it for data only.
func (c *call) sendFile(p *takenProfile) error {
	kind, name := "application/octet-stream", p.fileName()
	if p.Kind == profile.Stacks {
		kind = "text/plain; charset=utf-8"
	}
	h := c.w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", access.LogPolicy)
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	if p.Note != "" {
		h.Set(docs.HeaderProfileNote, headerText(p.Note))
	}
	return c.send(http.StatusOK, kind, p.Bytes)
}

// fileName returns a name for the file of a profile.
func (p *takenProfile) fileName() string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.", r) {
			return r
		}
		return '-'
	}, p.ID)
	return id + "-" + p.Kind + profile.Suffix(p.Kind)
}

// profileForm offers profiles of a process.
type profileForm struct {
	URL        string
	object, id string
	Seconds    int
	MaxSeconds int
}

func newProfileForm(object, id string) *profileForm {
	return &profileForm{"/" + object + "s/" + url.PathEscape(id) + "/profile", object, id, profile.DefaultSeconds, profile.MaxSeconds}
}

// Kinds returns the kinds to choose from. Stacks have a button of their own.
func (*profileForm) Kinds() []string { return []string{profile.CPU, profile.Heap, profile.Goroutine} }

// Command returns the command that takes a profile.
func (f *profileForm) Command(kind string, seconds int) string {
	noun := cmp.Or(map[string]string{"attempt": "task"}[f.object], f.object)
	text := "hammr " + noun + " profile " + shellWord(f.id) + " --kind " + kind
	if kind == profile.CPU {
		text += fmt.Sprintf(" --seconds %d", seconds)
	}
	return text
}

// profileData is the page of a profile. Of stacks it has Groups; others are read by go tool pprof.
type profileData struct {
	*takenProfile
	Key     string
	Heading string
	OfURL   string
	Seconds int // 0 if it has no time
	Size    int64
	Kept    int
	Read    string // command that shows the file; "" for stacks

	Groups     []stacks.Group
	Goroutines int
	LeftOut    int // groups
}

var profileHeadings = map[string]string{
	profile.CPU: "CPU profile of", profile.Heap: "Heap of", profile.Goroutine: "Goroutines of", profile.Stacks: "Stacks of",
}

func showProfile(c *call) error {
	p, err := c.profile()
	if err != nil {
		return err
	}
	d := &profileData{takenProfile: p, Key: c.params["profile"], Heading: profileHeadings[p.Kind], Size: int64(len(p.Bytes)), Kept: maxProfiles}
	switch p.Object {
	case "attempt":
		d.OfURL = "/attempts/" + url.PathEscape(p.ID)
	case "node":
		d.OfURL = "/nodes/" + url.PathEscape(p.ID)
	default:
		d.OfURL = "/masters"
	}
	if p.Kind == profile.CPU {
		d.Seconds = p.Query.Seconds
	}
	if p.Kind == profile.Stacks {
		d.Groups, d.Goroutines, d.LeftOut = stacks.Grouped(p.Bytes)
	} else {
		d.Read = "go tool pprof -http=: " + shellWord(p.fileName())
	}
	command := newProfileForm(p.Object, p.ID).Command(p.Kind, p.Query.Seconds)
	return c.render(http.StatusOK, "profile", d.Heading+" "+p.ID, d, Command{"another one", command})
}
