package access

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxSession = 12 * time.Hour   // from the sign-in to the end of a session
	maxIdle    = 30 * time.Minute // from the last use to the end of a session
	renewAfter = time.Minute      // how often the cookie of a session in use is replaced
	maxSkew    = time.Minute      // how far the clocks of masters may differ

	sessionVersion = 1
	sessionIDBytes = 8
	sessionHeader  = 1 + 8 + 8 + sessionIDBytes // bytes before the name
	maxNameBytes   = 128
	maxCookies     = 4 // cookies of the same name that are looked at
)

var cookieEncoding = base64.RawURLEncoding.Strict()

// session is the content of a cookie.
type session struct {
	issued  time.Time // when the user signed in
	renewed time.Time // when the cookie was made; not before issued
	id      string    // sessionIDBytes random bytes
	name    string    // at most maxNameBytes of UTF-8
}

func newSession(name string, now time.Time) session {
	id := make([]byte, sessionIDBytes)
	rand.Read(id)
	return session{issued: now, renewed: now, id: string(id), name: name}
}

// valid reports whether a session has begun and has not ended.
func (s *session) valid(now time.Time) bool {
	return !s.renewed.Before(s.issued) && !s.renewed.After(now.Add(maxSkew)) && s.left(now) > 0
}

// left returns how long a session lasts if it is not used again.
func (s *session) left(now time.Time) time.Duration {
	return min(s.issued.Add(maxSession).Sub(now), s.renewed.Add(maxIdle).Sub(now))
}

// cookies makes and reads the cookies of sessions.
type cookies struct {
	name   string
	path   string
	secure bool
	aead   cipher.AEAD
}

// newCookies returns the cookies for browsers that use TLS, or that do not.
func newCookies(cfg *Config, secure bool) (*cookies, error) {
	key, err := hkdf.Key(sha256.New, []byte(cfg.Token), nil, "web session", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	c := &cookies{name: "hammr", path: cfg.Base, secure: secure, aead: aead}
	if cfg.Cluster != "" {
		c.name += "-" + cfg.Cluster
	}
	if c.secure {
		// Browsers take a cookie with this prefix only over TLS, from this very host and for all of its
		// paths, so that no other host of the domain can set one.
		c.name, c.path = "__Host-"+c.name, "/"
	}
	return c, nil
}

// seal returns the value of a session's cookie.
func (c *cookies) seal(s session) string {
	plain := make([]byte, 0, sessionHeader+len(s.name))
	plain = append(plain, sessionVersion)
	plain = binary.BigEndian.AppendUint64(plain, uint64(s.issued.Unix()))
	plain = binary.BigEndian.AppendUint64(plain, uint64(s.renewed.Unix()))
	plain = append(append(plain, s.id...), s.name...)
	return cookieEncoding.EncodeToString(c.aead.Seal(nil, nil, plain, []byte(c.name)))
}

// open returns the session in a value that seal has made with the same token.
func (c *cookies) open(value string) (session, bool) {
	sealed, err := cookieEncoding.DecodeString(value)
	if err != nil {
		return session{}, false
	}
	plain, err := c.aead.Open(nil, nil, sealed, []byte(c.name))
	if err != nil || len(plain) < sessionHeader || len(plain) > sessionHeader+maxNameBytes || plain[0] != sessionVersion {
		return session{}, false
	}
	s := session{
		issued:  time.Unix(int64(binary.BigEndian.Uint64(plain[1:])), 0),
		renewed: time.Unix(int64(binary.BigEndian.Uint64(plain[9:])), 0),
		id:      string(plain[17:sessionHeader]),
		name:    string(plain[sessionHeader:]),
	}
	return s, utf8.ValidString(s.name)
}

// find returns the session of a request. found is whether the request has a cookie of the name,
// valid or not.
func (c *cookies) find(r *http.Request, now time.Time) (s session, valid, found bool) {
	list := r.CookiesNamed(c.name)
	for _, cookie := range list[:min(len(list), maxCookies)] {
		if s, ok := c.open(cookie.Value); ok && s.valid(now) {
			return s, true, true
		}
	}
	return session{}, false, len(list) > 0
}

// set makes the browser keep the session.
func (c *cookies) set(h http.Header, s session, now time.Time) {
	c.write(h, c.seal(s), int(s.left(now)/time.Second))
}

// remove makes the browser forget its session.
func (c *cookies) remove(h http.Header) { c.write(h, "", -1) }

// write replaces the cookie that the answer may have already. maxAge is in seconds.
//
// SameSite is Lax: a link on another site leads to a page and not to the form to sign in. Strict would
// protect nothing more. A browser sends a Lax cookie from another site with a GET that opens a page
// only, which changes nothing; and http.CrossOriginProtection refuses any other method from there.
func (c *cookies) write(h http.Header, value string, maxAge int) {
	others := slices.DeleteFunc(slices.Clone(h["Set-Cookie"]), func(line string) bool { return strings.HasPrefix(line, c.name+"=") })
	cookie := http.Cookie{
		Name: c.name, Value: value, Path: c.path, MaxAge: maxAge,
		Secure: c.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	h["Set-Cookie"] = append(others, cookie.String())
}
