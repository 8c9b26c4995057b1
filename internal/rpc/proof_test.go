package rpc

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

const proofToken = "0123456789abcdef-token"

// proving serves a master, at the address that it believes to have, or at its own if that is "".
func proving(t *testing.T, token, id, believed string) (address string) {
	t.Helper()
	h := &ProofHandler{Token: token, ID: id, Next: http.NotFoundHandler()}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	address = server.Listener.Addr().String()
	h.Address = believed
	if believed == "" {
		h.Address = address
	}
	return address
}

func TestMastersProveTheToken(t *testing.T) {
	if err := CheckMaster(t.Context(), proofToken, "m2", proving(t, proofToken, "m2", "")); err != nil {
		t.Errorf("a master with the token: %v", err)
	}
	for want, address := range map[string]string{
		"does not prove that it has the cluster's token":           proving(t, "another-token-of-16", "m2", ""),
		"(status 401 Unauthorized)":                                proving(t, "", "m2", ""),
		"this is master m3 at":                                     proving(t, proofToken, "m3", ""),
		"this is master m2 at m2.example:7070, not m2 at 127.0.0.": proving(t, proofToken, "m2", "m2.example:7070"),
	} {
		if err := CheckMaster(t.Context(), proofToken, "m2", address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// TestTheTokenIsNotSent listens as an attacker does, who passes the question on to a real master and
// sends its answer.
func TestTheTokenIsNotSent(t *testing.T) {
	real := proving(t, proofToken, "m2", "")
	var asked []string
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String(), fmt.Sprint(r.Header))
		for _, address := range []string{r.URL.Query().Get("address"), real} {
			q := r.URL.Query()
			q.Set("address", address)
			answer, err := http.Get("http://" + real + proofPath + "?" + q.Encode())
			if err != nil {
				t.Error(err)
				return
			}
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				t.Error("the real master answers for another address")
			}
		}
		fmt.Fprintln(w, r.URL.Query().Get("proof"))
	}))
	defer listener.Close()
	if err := CheckMaster(t.Context(), proofToken, "m2", listener.Listener.Addr().String()); err == nil {
		t.Error("a server without the token is accepted")
	}
	if text := strings.Join(asked, "\n"); len(asked) != 2 || strings.Contains(text, proofToken) {
		t.Errorf("the server got:\n%s", text)
	}
}

// TestStrangersGetNoProof asks without the token. An answer would let a stranger try tokens at home.
func TestStrangersGetNoProof(t *testing.T) {
	address := proving(t, proofToken, "m2", "")
	q := url.Values{"nonce": {"n"}, "id": {"m2"}, "address": {address}, "proof": {proofOf("a guess", "joins", "n", "m2", address)}}
	answer, err := http.Get("http://" + address + proofPath + "?" + q.Encode())
	must.Do(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %s", answer.Status)
	}
}

// TestProofsDiffer checks that no two questions have one proof.
func TestProofsDiffer(t *testing.T) {
	seen := make(map[string][]string)
	for _, parts := range [][]string{{"joins", "n", "m2", "a"}, {"joined", "n", "m2", "a"}, {"joins", "nm", "2", "a"}, {"joins", "n", "m2a", ""}, {"joins", "n 2 m2", "a", ""}} {
		proof := proofOf(proofToken, parts...)
		if other := seen[proof]; other != nil {
			t.Errorf("%q and %q have one proof", parts, other)
		}
		seen[proof] = parts
	}
}
