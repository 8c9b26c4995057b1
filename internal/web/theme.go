package web

import (
	"net/http"
)

// themeCookie is the name of the cookie with the colours that the user has chosen: light or dark. The
// server reads it, so that a page never flashes in other colours.
const themeCookie = "hammr-theme"

// themeOf returns the theme that the user has chosen, "" if it is up to the browser.
func themeOf(r *http.Request) string {
	if cookie, err := r.Cookie(themeCookie); err == nil && (cookie.Value == "light" || cookie.Value == "dark") {
		return cookie.Value
	}
	return ""
}

// setTheme answers POST /theme: it sets the cookie and leads back to the page. Everybody may send it,
// since it changes only how the browser of the caller shows pages.
func (s *server) setTheme(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	theme := r.PostFormValue("theme")
	if theme != "light" && theme != "dark" {
		http.Error(w, "parameter theme: expected light or dark", http.StatusBadRequest)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: themeCookie, Value: theme, Path: s.inBase("/"), MaxAge: 365 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	w.Header().Set("Location", s.cfg.Gate.LocalPath(r.PostFormValue("to")))
	w.WriteHeader(http.StatusSeeOther)
}

// Theme returns the theme that the user has chosen, "" if it is up to the browser.
func (v *view) Theme() string { return themeOf(v.r) }

// Themes returns the themes to offer: the other one, or both if the browser chooses.
func (v *view) Themes() []string {
	switch v.Theme() {
	case "light":
		return []string{"dark"}
	case "dark":
		return []string{"light"}
	}
	return []string{"light", "dark"}
}

// To returns the URL of the page for the form of the theme. A page that a form has led to cannot be
// loaded again, so its URL is that of the overview.
func (v *view) To() string {
	if v.r.Method != http.MethodGet {
		return v.inBase("/")
	}
	q := v.r.URL.Query()
	if len(q) == 0 {
		return v.inBase(v.Path())
	}
	return v.inBase(v.Path() + "?" + q.Encode())
}
