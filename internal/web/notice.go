package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/docs"
)

// noticeCookie has the action that has led to a page, as job.kill. Only an answer to the action sets
// it, so a link from elsewhere cannot show that something was done.
const noticeCookie = "hammr-done"

// noticeSeconds is how long the browser may take to load the page.
const noticeSeconds = 20

// redirectDone leads the browser to a page after an action, and lets that page say what was done.
func (c *call) redirectDone(to, action string) error {
	path, _, _ := strings.Cut(to, "?")
	c.setNotice(path, action, noticeSeconds)
	return c.redirect(to)
}

// setNotice sets the cookie for a page; it deletes the cookie if seconds is negative.
func (c *call) setNotice(path, action string, seconds int) {
	http.SetCookie(c.w, &http.Cookie{Name: noticeCookie, Value: action, Path: c.inBase(path), MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// notice returns what the action has done that has led to the page, "" for none. The page says it once:
// browsers share fragments, which have no notice.
func (c *call) notice() string {
	cookie, err := c.r.Cookie(noticeCookie)
	if err != nil || c.isFragment() {
		return ""
	}
	c.setNotice(c.r.URL.EscapedPath(), "", -1)
	for _, a := range append(slices.Clone(docs.Actions), undoPolicy) {
		if a.Object+"."+a.Do == cookie.Value {
			return fmt.Sprintf("The %s is %s.", a.Object, a.Done)
		}
	}
	return ""
}
