package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Answer is a value that was true at some time.
type Answer[T any] struct {
	Value T
	At    time.Time // when the cluster gave the value
	Stale error     // why no newer value can be had; nil if the value is fresh
}

// Reader answers documents. Lists are filtered, sorted and paged by the source, because
// they can be long. Methods may be called by several goroutines at once. Callers must not change what they
// get: other callers get the same value.
//
// Errors wrap ErrUnknown, ErrRefused or ErrUnavailable if one fits.
type Reader interface {
	// Read answers a document. query has the type of the document's parameters, and the value that of its
	// answer. Callers use Document.Read.
	Read(ctx context.Context, e *Entry, query any) (Answer[any], error)
}

// Source is a cluster as pages and programs see it.
type Source interface {
	Reader
	// Change changes the cluster.
	Change(ctx context.Context, c Change) (apidoc.Change, error)
	// Log returns a part of an output stream of an attempt, stdout or stderr. It can be less than the range,
	// and is empty only behind the end. The error wraps ErrUnknown if the attempt has printed nothing.
	Log(ctx context.Context, attempt, stream string, r LogRange) (LogPart, error)
	// Profile takes a profile, which may last as long as the query says. The error wraps ErrRefused if the
	// process cannot answer, such as that of a suspended attempt.
	Profile(ctx context.Context, q ProfileQuery) (ProfileData, error)
}

// Document is a document with parameters Q, a struct whose fields have the tags of field, and an answer A.
type Document[Q, A any] struct{ *Entry }

// Entry is a row of the table of documents.
type Entry struct {
	Path   string // below the root of the API, as a pattern of http.ServeMux; "" for a document that only this process reads
	Call   bool   // only masters' calls serve it, and the API does not
	Object string // kind of the object of the access check; its id is the path's parameter of that name
	Text   string // one sentence
	Answer any    // the zero value of the answer

	Decode func(io.Reader) (any, error) // reads an answer of the API
	// Rows returns an answer as a table with a line of headings, and the cursor of the next page; nil for a document that is
	// no list. The API serves it as CSV.
	Rows func(value any) (table [][]string, next string)

	fields  func() []field
	columns []string // names of the columns by which a list can be sorted, the default first with its sign
	query   func() any
	encode  func(value any) ([]byte, error)
	derive  func(context.Context, Reader, any) (Answer[any], error) // from other documents; nil if a source must answer
	finish  func(value any) any                                     // applied to each answer of a Table; nil for nothing
	public  func(query, value any) (any, error)                     // what callers without the right to read logs see; nil for everything
}

// all lists the documents with a path. Each declaration adds its row.
var all []*Entry

// Entries returns the documents that the API serves.
func Entries() []*Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e *Entry) bool { return e.Call })
}

// document declares a document.
func document[Q, A any](path, object, text string) Document[Q, A] {
	var none A
	e := &Entry{Path: path, Object: object, Text: text, Answer: none, query: func() any { return new(Q) }, encode: json.Marshal}
	e.fields = sync.OnceValue(func() []field { return fieldsOf(reflect.TypeFor[Q](), e) })
	e.Decode = func(r io.Reader) (any, error) {
		var value A
		err := json.NewDecoder(r).Decode(&value)
		return value, err
	}
	if path != "" {
		all = append(all, e)
	}
	return Document[Q, A]{e}
}

// called declares a document that only masters' calls serve.
func called[Q, A any](d Document[Q, A]) Document[Q, A] {
	d.Call = true
	return d
}

// message declares a document with the status of a job, which is sent as a message of package wire: a job can
// have very many tasks.
func message[Q any](d Document[Q, *wire.JobStatus]) Document[Q, *wire.JobStatus] {
	d.encode = func(value any) ([]byte, error) { return proto.Marshal(value.(*wire.JobStatus)) }
	d.Decode = func(r io.Reader) (any, error) {
		text, err := io.ReadAll(r)
		status := new(wire.JobStatus)
		return status, errors.Join(err, proto.Unmarshal(text, status))
	}
	return called(d)
}

// derived declares a document that follows from others. A source may still answer it by itself, if that is
// cheaper.
func derived[Q, A any](d Document[Q, A], of func(ctx context.Context, s Reader, q Q) (Answer[A], error)) Document[Q, A] {
	d.derive = func(ctx context.Context, s Reader, q any) (Answer[any], error) { return untyped(of(ctx, s, q.(Q))) }
	return d
}

// list declares the columns of a list, by which it can be sorted and which its CSV has. rows returns the
// rows of an answer, and the cursor of the next page.
func list[Q, A, T any](d Document[Q, A], columns []Column[T], byDefault string, rows func(A) ([]T, string)) Document[Q, A] {
	d.columns = append(d.columns, byDefault)
	for _, c := range columns {
		d.columns = append(d.columns, c.Name, "-"+c.Name)
	}
	d.Rows = func(value any) (table [][]string, next string) {
		each, next := rows(value.(A))
		return cellsOf(each, columns), next
	}
	return d
}

// finished declares what is done to each answer, whatever answers it.
func finished[Q, A any](d Document[Q, A], finish func(A) A) Document[Q, A] {
	d.finish = func(value any) any { return finish(value.(A)) }
	return d
}

// redacted declares what callers who may not read the logs of tasks see of a document. Each derived document
// needs its own redaction, because a source may answer it directly.
func redacted[Q, A any](d Document[Q, A], public func(q Q, value A) (A, error)) Document[Q, A] {
	d.public = func(q, value any) (any, error) { return public(q.(Q), value.(A)) }
	return d
}

// Read asks a source for the document.
func (d Document[Q, A]) Read(ctx context.Context, s Reader, q Q) (Answer[A], error) {
	a, err := s.Read(ctx, d.Entry, q)
	value, _ := a.Value.(A) // nil after an error
	return Answer[A]{Value: value, At: a.At, Stale: a.Stale}, err
}

// Caller asks the leader for a document at a path below the root of the API. remote.Client is one.
type Caller interface {
	Read(ctx context.Context, path string) (document []byte, err error)
}

// From asks the leader for the document.
func (d Document[Q, A]) From(ctx context.Context, c Caller, q Q) (value A, err error) {
	text, err := c.Read(ctx, d.URL(q))
	if err != nil {
		return value, err
	}
	decoded, err := d.Decode(bytes.NewReader(text))
	value, _ = decoded.(A) // nil after an error
	return value, err
}

// untyped makes the answer of a function that of Source.Read.
func untyped[A any](a Answer[A], err error) (Answer[any], error) {
	return Answer[any]{Value: a.Value, At: a.At, Stale: a.Stale}, err
}

// Table answers documents by a function for each.
type Table map[*Entry]func(ctx context.Context, query any) (Answer[any], error)

// Serve adds the function that answers a document to a table.
func Serve[Q, A any](t Table, d Document[Q, A], answer func(ctx context.Context, q Q) (Answer[A], error)) {
	t[d.Entry] = func(ctx context.Context, q any) (Answer[any], error) {
		a, err := untyped(answer(ctx, q.(Q)))
		if d.finish != nil && err == nil {
			a.Value = d.finish(a.Value)
		}
		return a, err
	}
}

// Read answers a document by its function or, without one, from the documents that it is derived from, as s
// answers them.
func (t Table) Read(ctx context.Context, s Reader, e *Entry, query any) (Answer[any], error) {
	switch answer := t[e]; {
	case answer != nil:
		return answer(ctx, query)
	case e.derive != nil:
		return e.derive(ctx, s, query)
	}
	return Answer[any]{}, fmt.Errorf("not known here: %s The pages of a running cluster have it: %w", e.Text, ErrUnavailable)
}

// Answer answers a document at a path, as Caller.Read does.
func (t Table) Answer(ctx context.Context, path string) (text []byte, err error) {
	e, query, err := Find(path)
	if err != nil {
		return nil, err
	}
	a, err := t.Reader().Read(ctx, e, query)
	if err != nil {
		return nil, err
	}
	return e.encode(a.Value)
}

// Reader returns a reader of the table alone.
func (t Table) Reader() Reader { return tableReader{t} }

type tableReader struct{ table Table }

// Read implements Reader.
func (r tableReader) Read(ctx context.Context, e *Entry, query any) (Answer[any], error) {
	return r.table.Read(ctx, r, e, query)
}

// Public is a source as callers see it who may view the cluster and may not read what its tasks print.
type Public struct{ Source }

// Read implements Source.
func (s Public) Read(ctx context.Context, e *Entry, query any) (Answer[any], error) {
	a, err := s.Source.Read(ctx, e, query)
	if err == nil && e.public != nil {
		a.Value, err = e.public(query, a.Value)
	}
	return a, err
}

// Params returns the parameters of the document.
func (e *Entry) Params() (params []Param) {
	for _, f := range e.fields() {
		params = append(params, f.Param)
	}
	return params
}

// Parse returns the query of checked parameters.
func (e *Entry) Parse(params map[string]string) (any, error) {
	q := reflect.ValueOf(e.query()).Elem()
	for _, f := range e.fields() {
		if err := f.set(q.FieldByIndex(f.index), params[f.Name]); err != nil {
			return nil, err
		}
	}
	if c, ok := q.Interface().(interface{ Check() error }); ok {
		if err := c.Check(); err != nil {
			return nil, err
		}
	}
	return q.Interface(), nil
}

// URL returns the path of a document with its parameters, below the root of the API.
func (e *Entry) URL(query any) string {
	q, path, values := reflect.ValueOf(query), e.Path, url.Values{}
	for _, f := range e.fields() {
		text := f.text(q.FieldByIndex(f.index))
		if in := "{" + f.Name + "}"; strings.Contains(path, in) {
			path = strings.Replace(path, in, url.PathEscape(text), 1)
		} else if text != "" {
			values.Set(f.Name, text)
		}
	}
	if q, ok := query.(Configured); ok {
		for name, value := range q.Settings() {
			values.Set(name, value)
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// Configured is a query that takes each parameter without a field of its own as a setting.
type Configured interface {
	Settings() map[string]string
	// WithSettings returns the query with other settings.
	WithSettings(map[string]string) any
}

// Find returns the document at a path below the root of the API, and the query of its parameters. It is the
// inverse of Entry.URL.
func Find(path string) (*Entry, any, error) {
	u, err := url.Parse(path)
	if err != nil {
		return nil, nil, Bad("path", "is malformed: "+err.Error())
	}
	var e *Entry
	var params map[string]string
	for _, each := range all { // "summary" is more than a parameter
		if found, matches := each.match(u.EscapedPath()); matches && (e == nil || len(found) < len(params)) {
			e, params = each, found
		}
	}
	if e == nil {
		return nil, nil, fmt.Errorf("no document at %.200q: %w", path, ErrUnknown)
	}
	given := u.Query()
	for _, p := range e.Params() {
		if _, inPath := params[p.Name]; inPath {
			continue
		}
		if params[p.Name], err = p.Check(given.Get(p.Name)); err != nil {
			return nil, nil, err
		}
		delete(given, p.Name)
	}
	query, err := e.Parse(params)
	if q, ok := query.(Configured); ok {
		settings := make(map[string]string)
		for name := range given {
			settings[name] = given.Get(name)
		}
		query = q.WithSettings(settings)
	}
	return e, query, err
}

// match returns the parameters in a path, and whether the path is one of the document.
func (e *Entry) match(path string) (params map[string]string, matches bool) {
	want, parts := strings.Split(e.Path, "/"), strings.Split(path, "/")
	if len(want) != len(parts) {
		return nil, false
	}
	params = make(map[string]string)
	for i, part := range want {
		value, err := url.PathUnescape(parts[i])
		switch name, isParam := strings.CutPrefix(part, "{"); {
		case isParam && err == nil:
			params[strings.TrimSuffix(name, "}")] = value
		case part != value:
			return nil, false
		}
	}
	return params, true
}
