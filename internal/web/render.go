package web

import (
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/kit/clean"
)

//go:embed assets templates
var files embed.FS

// templates returns a template for each page, with the layout around it. They are parsed at the first call: a process
// that serves no page, such as a task, does without.
var templates = sync.OnceValue(parseTemplates)

// parseTemplates parses the templates. A broken one is a mistake in the source, which every test
// of the package finds.
func parseTemplates() map[string]*template.Template {
	shared := template.Must(template.New("layout.html").Funcs(functions).Funcs(template.FuncMap{
		"asset": embedded().urlOf,
		"icon":  func() template.URL { return icon },
	}).
		ParseFS(files, "templates/layout.html", "templates/parts*.html"))
	names, _ := fs.Glob(files, "templates/*.html") // the pattern is valid
	all := make(map[string]*template.Template)
	for _, name := range names {
		base := strings.TrimSuffix(path.Base(name), ".html")
		if base != "layout" && !strings.HasPrefix(base, "parts") {
			all[base] = template.Must(template.Must(shared.Clone()).ParseFS(files, name))
		}
	}
	return all
}

// view is what templates get.
type view struct {
	*call
	Title    string
	Masters  apidoc.Masters
	Server   string      // who serves the page
	Age      string      // how old the figures are
	AsOf     string      // when the oldest figure was true, "" if there is none
	Stale    string      // why they are not fresh, "" if they are
	Notice   string      // what an action has done, "" for none
	SignedIn bool        // the caller has the token
	Commands []Command   // commands that do the same
	Data     any         // of the page
	Links    [][2]string // navigation: path and text
}

// Command is a command that does the same as a page.
type Command struct{ What, Text string }

// whatIf returns the command that simulates finished jobs under other policies. The pairs are flags
// that choose jobs, and their values, "" for none.
func whatIf(flags ...string) Command {
	text := "hammr sim whatif --history DIR --policy NAMES"
	for ; len(flags) > 1; flags = flags[2:] {
		if flags[1] != "" {
			text += " --" + flags[0] + " " + shellWord(flags[1])
		}
	}
	return Command{"finished jobs under another policy", text}
}

// navigation lists the pages that every page links to.
var navigation = [][2]string{
	{"/", "Overview"}, {"/jobs", "Jobs"}, {"/history", "History"}, {"/pools", "Pools"}, {"/nodes", "Nodes"}, {"/scheduler", "Scheduler"}, {"/masters", "Masters"},
}

// links returns the navigation of a server, which may have drills.
func (c *call) links() [][2]string {
	if c.cfg.Drills == nil {
		return navigation
	}
	return append(slices.Clip(navigation), [2]string{"/drills", "Drills"})
}

// pageBytes is about the size of a page without long tables.
const pageBytes = 24 << 10

// render answers with a page.
func (c *call) render(status int, name, title string, data any, commands ...Command) error {
	if c.err != nil {
		return c.err
	}
	v := &view{
		call: c, Title: title, Masters: c.masters(), Server: c.cfg.Name, SignedIn: c.caller.Token,
		Commands: commands, Data: data, Links: c.links(), Notice: c.notice(),
	}
	v.Age = durationText(c.age().Milliseconds())
	if !c.oldest.IsZero() {
		v.AsOf = c.oldest.UTC().Format("15:04:05 UTC")
	}
	if c.stale != nil {
		v.Stale = c.stale.Error()
	}
	var page strings.Builder
	page.Grow(pageBytes)
	part := "layout.html"
	if c.isFragment() {
		part = "live"
	}
	if err := templates()[name].ExecuteTemplate(&page, part, v); err != nil {
		return fmt.Errorf("template %s: %w", name, err)
	}
	if part == "live" && status == http.StatusOK {
		c.fragment = clean.Text(page.String())
		return nil
	}
	if v.Live() {
		seconds := c.params["live"]
		c.w.Header().Set("Refresh", seconds)
	}
	c.w.Header().Add("Vary", "Cookie") // it shows whether the user is signed in
	// The templates have no unsafe characters, so each is from data.
	return c.send(status, "text/html; charset=utf-8", []byte(clean.Text(c.linked(page.String()))))
}

// Live reports whether the browser reloads the page periodically.
func (v *view) Live() bool { return v.params["live"] != "" && v.params["live"] != "0" }

// Param returns a parameter of the page.
func (v *view) Param(name string) string { return v.params[name] }

// Here reports whether a link of the navigation leads to this page, or one below it.
func (v *view) Here(link string) bool {
	return v.r.URL.Path == link || link != "/" && strings.HasPrefix(v.r.URL.Path, link+"/")
}

// Path returns the path of the page.
func (v *view) Path() string { return v.r.URL.EscapedPath() }

// With returns the URL of the page with other parameters: pairs of a name and a value, "" to
// leave the parameter out. A page begins at its first row if something else changes.
func (v *view) With(pairs ...any) string {
	q := v.r.URL.Query()
	q.Del("cursor")
	for i := 0; i+1 < len(pairs); i += 2 {
		name, value := fmt.Sprint(pairs[i]), fmt.Sprint(pairs[i+1])
		if value == "" {
			q.Del(name)
		} else {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return v.Path()
	}
	return v.Path() + "?" + q.Encode()
}

// Heading is the heading of a sortable column.
type Heading struct {
	Text, URL, Order string // Order is ascending, descending or none
	Number           bool   // the column has numbers, on the right
}

// headings returns the headings of a table that is sorted by the parameter sort.
func headings[T any](v *call, columns []docs.Column[T]) (list []Heading) {
	view := &view{call: v}
	for _, c := range columns {
		h := Heading{c.Heading, view.With("sort", c.Name), "none", c.Right}
		switch v.params["sort"] {
		case c.Name:
			h.URL, h.Order = view.With("sort", "-"+c.Name), "ascending"
		case "-" + c.Name:
			h.Order = "descending"
		}
		list = append(list, h)
	}
	return list
}

// Form is an action that a page offers on one object.
type Form struct {
	*docs.Action
	ID      string
	Options []string // values to choose from; nil for none, or for free text
}

// URL returns where the form is sent.
func (f Form) URL() string {
	return "/" + f.Object + "s/" + url.PathEscape(f.ID) + "/" + f.Do
}

// Text returns the command that does the same.
func (f Form) Text() string { return f.Command(f.ID, "") }

// formsOn returns the forms for an object. options are the values of actions that have no Enum.
func formsOn(kinds []*docs.Action, id string, options []string) (forms []Form) {
	for _, k := range kinds {
		f := Form{Action: k, ID: id}
		if k.Param != nil {
			if f.Options = k.Param.Enum; f.Options == nil {
				f.Options = options
			}
		}
		forms = append(forms, f)
	}
	return forms
}

// showError shows a page for an error.
func (c *call) showError(status int, err error) {
	c.err = nil // of what it was about; the page has documents of its own
	data := struct {
		Status int
		Text   string
		Detail string
		Hint   string
		Hits   []Hit
		Why    string // why an object can be unknown
		Search string // URL of a search for it
	}{Status: status, Text: http.StatusText(status), Detail: err.Error(), Hint: c.hint(status)}
	if status == http.StatusNotFound {
		data.Hits, data.Why, data.Search = c.suggest(), c.whyUnknown(), c.searchUnknown()
	}
	c.params, c.err = map[string]string{}, nil
	if err := c.render(status, "error", data.Text, data); err != nil {
		c.cfg.Logger.Error("page of an error failed", "path", c.r.URL.Path, "error", err)
		http.Error(c.w, data.Detail, status)
	}
}
