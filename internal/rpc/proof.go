package rpc

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// A master that joins a cluster shows that it has the token before any master sends it the token: the
// address is what a user has typed, or what a page has sent. Each end proves itself to the other:
//
//	GET /hammr.proof?nonce=N&id=ID&address=A&proof=HMAC(token, "joins", N, ID, A)
//	200 HMAC(token, "joined", N, ID, A)
//
// A is the address that the leader dials, and the newcomer answers only for its own. So no server can get
// the answer by passing the question on to another master.

// proofPath is where a master proves that it has the token.
const proofPath = "/hammr.proof"

// maxProofAnswer bounds an answer, in bytes.
const maxProofAnswer = 1 << 10

// proofOf returns HMAC-SHA256 over the parts and their lengths, in hexadecimal digits.
func proofOf(token string, parts ...string) string {
	mac := hmac.New(sha256.New, []byte(token))
	for _, part := range parts {
		fmt.Fprintf(mac, "%d %s ", len(part), part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// CheckMaster returns an error unless the server at an address is the master with this id and has the
// cluster's token. It does not send the token.
func CheckMaster(ctx context.Context, token, id, address string) error {
	nonce := rand.Text()
	query := url.Values{"nonce": {nonce}, "id": {id}, "address": {address}, "proof": {proofOf(token, "joins", nonce, id, address)}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+proofPath+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request) // follows no redirection
	if err != nil {
		return err
	}
	defer answer.Body.Close() // it was only read
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxProofAnswer))
	text := strings.TrimSpace(string(data))
	switch {
	case err != nil:
		return err
	case answer.StatusCode == http.StatusOK && hmac.Equal([]byte(text), []byte(proofOf(token, "joined", nonce, id, address))):
		return nil
	case answer.StatusCode == http.StatusConflict:
		return fmt.Errorf("the master there says: %q", text)
	}
	return fmt.Errorf("the server there does not prove that it has the cluster's token, which was not sent to it: it is another program, an older hammr, or a master with another token (status %s)", answer.Status)
}

// ProofHandler answers CheckMaster, and passes other requests on.
type ProofHandler struct {
	Token       string // of the cluster
	ID, Address string // of this master; others reach it at the address
	Next        http.Handler
}

// ServeHTTP implements http.Handler. It answers only callers that have the token themselves, so that a
// stranger cannot try tokens against an answer.
func (h *ProofHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != proofPath {
		h.Next.ServeHTTP(w, r)
		return
	}
	q := r.URL.Query()
	nonce, id, address := q.Get("nonce"), q.Get("id"), q.Get("address")
	switch {
	case h.Token == "" || !hmac.Equal([]byte(q.Get("proof")), []byte(proofOf(h.Token, "joins", nonce, id, address))):
		http.Error(w, "not the token of this master", http.StatusUnauthorized)
	case id != h.ID || address != h.Address:
		http.Error(w, fmt.Sprintf("this is master %s at %s, not %s at %s; name it so, or start it with --id and --advertise", h.ID, h.Address, cmp.Or(id, "none"), address), http.StatusConflict)
	default:
		fmt.Fprintln(w, proofOf(h.Token, "joined", nonce, id, address))
	}
}
