package transfer

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/hammr/hammr/shuffle"
)

// Prefix begins the paths of files.
const Prefix = "/shuffle/"

// maxElement bounds the names in a request, in bytes.
const maxElement = 200

// Names of the query's parameters.
const (
	paramPartition = "partition"
	paramRun       = "run"
	paramVerify    = "verify"
)

// Headers of answers.
const (
	// HeaderRun is sent with the bytes of a run: the run's entry in the index.
	HeaderRun = "Hammr-Run"
	// HeaderChecksum is sent with a verdict: the xxhash64 of the body. Clients verify it,
	// because the network that damaged the run may also damage the verdict.
	HeaderChecksum = "Hammr-Checksum"
)

// request is a parsed request for a file of an attempt, for one run of it, or for a verdict:
//
//	/shuffle/JOB/ATTEMPT/FILE                            the file, or a range of it
//	/shuffle/JOB/ATTEMPT/DIR/FILE                        likewise, in a directory
//	/shuffle/JOB/ATTEMPT/FILE?partition=P&run=N          the bytes of a run
//	/shuffle/JOB/ATTEMPT/FILE?partition=P&run=N&verify=true   a verdict about it
//	/shuffle/JOB/ATTEMPT/FILE?verify=true                a verdict about the index
type request struct {
	job, attempt string
	file         string // name in the attempt's directory: FILE or DIR/FILE

	// run is set for one run of the data file; otherwise the request is for the whole file.
	run       bool
	partition int
	number    int // number of the run in its partition

	// verify asks the server to verify its disk instead of sending bytes.
	verify bool
}

// name identifies the file to clients, and in the cache of indexes: JOB/ATTEMPT/FILE.
func (q *request) name() string { return path.Join(q.job, q.attempt, q.file) }

// jobOf returns the job in the path of a request for a file or a stream: the element that
// parseRequest and parseChannel take as the job.
func jobOf(urlPath string) string {
	rest, found := strings.CutPrefix(urlPath, Prefix)
	if !found {
		rest = strings.TrimPrefix(urlPath, ChannelPrefix)
	}
	job, _, _ := strings.Cut(rest, "/")
	return job
}

// parseRequest parses the path and the query of a URL. Names must not contain separators or
// begin with a dot, so that they cannot lead elsewhere. ATTEMPT must be an attempt of JOB: what
// else is in a job's directory, such as logs and records, is not for tasks.
func parseRequest(u *url.URL) (request, error) {
	rest, found := strings.CutPrefix(u.Path, Prefix)
	names := strings.Split(rest, "/")
	if !found || len(names) != 3 && len(names) != 4 {
		return request{}, fmt.Errorf("path %.100q: not %sJOB/ATTEMPT/FILE or %[2]sJOB/ATTEMPT/DIR/FILE", u.Path, Prefix)
	}
	for _, name := range names {
		if err := checkElement(name); err != nil {
			return request{}, err
		}
	}
	q := request{job: names[0], attempt: names[1], file: path.Join(names[2:]...)}
	id, isJob := strings.CutPrefix(q.job, "job_")
	if !isJob || !strings.HasPrefix(q.attempt, "attempt_"+id+"_") {
		return request{}, fmt.Errorf("path %.100q: %q is not an attempt of a job %q", u.Path, q.attempt, q.job)
	}
	return q, q.parseQuery(u.RawQuery)
}

// checkElement refuses names that could leave the directory, or that no attempt has.
func checkElement(name string) error {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
	}
	if name == "" || len(name) > maxElement || name[0] == '.' || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("name %.100q in the path: not a name of letters, digits and ._-", name)
	}
	return nil
}

// parseQuery parses the parameters. It refuses unknown and repeated ones, so that a client
// of another version gets an error.
func (q *request) parseQuery(raw string) error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	for key, all := range values {
		if len(all) != 1 {
			return fmt.Errorf("query: %q given %d times", key, len(all))
		}
		switch key {
		case paramPartition:
			q.partition, err = number(all[0])
		case paramRun:
			q.number, err = number(all[0])
		case paramVerify:
			q.verify, err = strconv.ParseBool(all[0])
		default:
			err = errors.New("unknown")
		}
		if err != nil {
			return fmt.Errorf("query: %.100q: %w", key, err)
		}
	}
	q.run = values.Has(paramPartition)
	if q.run != values.Has(paramRun) {
		return errors.New("query: partition needs run, and run needs partition")
	}
	return nil
}

// number parses a number of at most 31 bits.
func number(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err
}

// formatRun returns the value of HeaderRun for a run.
func formatRun(r shuffle.Run) string {
	return fmt.Sprintf("offset=%d; length=%d; raw=%d; records=%d; checksum=%08x; tagged=%t",
		r.Offset, r.Length, r.RawLength, r.Records, r.Checksum, r.Tagged)
}

// Output names and locates the output that a finished map attempt has published.
type Output struct {
	Address       string // host:port of the Server
	Stored        string // full name of a data file that needs no Server; "" for others
	Job           string
	Attempt       string
	File          string // name of the data file in the attempt's local directory
	IndexChecksum uint64 // checksum of the shuffle.Index
}

func (o Output) String() string {
	if o.Stored != "" {
		return fmt.Sprintf("%s of %s", o.Stored, o.Attempt)
	}
	return fmt.Sprintf("%s of %s on %s", o.File, o.Attempt, o.Address)
}

// source returns the unit of failure: a machine, or one stored file.
func (o Output) source() string { return cmp.Or(o.Stored, o.Address) }

// url asks for a file of the output's attempt.
func (o Output) url(file string, query url.Values) string {
	return serverURL(o.Address, Prefix+path.Join(o.Job, o.Attempt, file), query)
}

// indexURL and runURL ask for the index, and for the bytes of a run.
func (o Output) indexURL() string { return o.url(shuffle.IndexPath(o.File), nil) }

func (o Output) runURL(partition, run int) string { return o.url(o.File, runQuery(partition, run)) }

// verifyURL asks to verify a run, or the index if run is less than 0.
func (o Output) verifyURL(partition, run int) string {
	query := url.Values{}
	if run >= 0 {
		query = runQuery(partition, run)
	}
	query.Set(paramVerify, "true")
	return o.url(o.File, query)
}

// runQuery selects one run of a partition.
func runQuery(partition, run int) url.Values {
	return url.Values{paramPartition: {strconv.Itoa(partition)}, paramRun: {strconv.Itoa(run)}}
}
