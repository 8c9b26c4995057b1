package transfer

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ChannelPrefix begins the paths of streams between Nodes.
const ChannelPrefix = "/channel/"

// paramWait is the time to wait for the other end.
const paramWait = "wait"

// maxWait bounds the time that a client may ask a server to wait, since a waiting request
// costs the server a goroutine and a connection.
const maxWait = time.Hour

// ChannelID names a stream from one Node to another along an edge of a job's graph. A bundle
// that starts again has new streams.
type ChannelID struct {
	Job         string
	BundleClass int // index in dag.Layout.Bundles
	Bundle      int // index in the class
	Incarnation int // number of the bundle's start
	Edge        int // index in the graph's edges
	From        int // number of the Node that writes, in its stage
	To          int // number of the Node that reads
}

func (id ChannelID) String() string {
	return fmt.Sprintf("stream %d->%d along edge %d of %s, start %d of bundle %d.%d",
		id.From, id.To, id.Edge, id.Job, id.Incarnation, id.BundleClass, id.Bundle)
}

// url returns the URL at which both ends connect.
func (id ChannelID) url(address string, wait time.Duration) string {
	path := fmt.Sprintf("%s%s/%d/%d/%d/%d/%d/%d", ChannelPrefix, id.Job,
		id.BundleClass, id.Bundle, id.Incarnation, id.Edge, id.From, id.To)
	return serverURL(address, path, url.Values{paramWait: {wait.String()}})
}

// parseChannel parses the path and the query of a URL that ChannelID.url made. It refuses
// everything else, because anyone may send requests.
func parseChannel(u *url.URL) (id ChannelID, wait time.Duration, err error) {
	numbers := []*int{&id.BundleClass, &id.Bundle, &id.Incarnation, &id.Edge, &id.From, &id.To}
	parts := strings.Split(strings.TrimPrefix(u.Path, ChannelPrefix), "/")
	if len(parts) != 1+len(numbers) {
		return id, 0, fmt.Errorf("path %.100q: not %sJOB/CLASS/BUNDLE/INCARNATION/EDGE/FROM/TO", u.Path, ChannelPrefix)
	}
	id.Job = parts[0]
	if err := checkElement(id.Job); err != nil {
		return id, 0, err
	}
	for i, into := range numbers {
		if *into, err = number(parts[i+1]); err != nil {
			return id, 0, fmt.Errorf("path %.100q: %q: not a number", u.Path, parts[i+1])
		}
	}
	wait, err = parseWait(u.RawQuery)
	return id, wait, err
}

// parseWait parses the query, which has one parameter.
func parseWait(raw string) (time.Duration, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return 0, fmt.Errorf("query: %w", err)
	}
	if len(values) != 1 || len(values[paramWait]) != 1 {
		return 0, fmt.Errorf("query %.100q: not the parameter %s alone", raw, strconv.Quote(paramWait))
	}
	wait, err := time.ParseDuration(values.Get(paramWait))
	if err != nil || wait < 0 || wait > maxWait {
		return 0, fmt.Errorf("query: %q: not a time up to %v", paramWait, maxWait)
	}
	return wait, nil
}
