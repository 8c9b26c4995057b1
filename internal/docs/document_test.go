package docs

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestFindIsTheInverseOfURL fills all parameters of each document, and none but those of its path.
func TestFindIsTheInverseOfURL(t *testing.T) {
	for _, e := range Entries() {
		for _, all := range []bool{true, false} {
			want := reflect.New(reflect.TypeOf(e.query()).Elem()).Elem()
			for _, f := range e.fields() {
				if all || strings.Contains(e.Path, "{"+f.Name+"}") || f.Default != "" {
					fill(t, f, want.FieldByIndex(f.index))
				}
			}
			if q, ok := want.Interface().(PolicyQuery); ok {
				q.Conf = map[string]string{}
				if all {
					q.Conf["hammr.fair.a b"] = "c&d"
				}
				want.Set(reflect.ValueOf(q))
			}
			path := e.URL(want.Interface())
			found, query, err := Find(path)
			if err != nil || found != e || !reflect.DeepEqual(query, want.Interface()) {
				t.Errorf("%s: found %v with %+v, %v; want %s with %+v", path, found, query, err, e.Path, want.Interface())
			}
		}
	}
}

// fill sets a field to a value that its parameter accepts.
func fill(t *testing.T, f field, to reflect.Value) {
	text := "ü/ x?"
	switch {
	case f.Enum != nil:
		text = f.Enum[len(f.Enum)-1]
	case f.Max > 0:
		text = "7"
	case f.Name == "job":
		text = "job_1_0007"
	case to.Kind() != reflect.String:
		text = map[reflect.Type]string{reflect.TypeFor[Time](): "2026-11-22", reflect.TypeFor[EndTime](): "2026-11-22", reflect.TypeFor[Millis](): "90s"}[to.Type()]
		if text == "" {
			text = "7"
		}
	}
	must.Do(t, f.set(to, text))
}

func TestPathsOfNoDocument(t *testing.T) {
	for path, want := range map[string]string{"/weather": "no document", "/jobs//": "no document", "/jobs?limit=x": "parameter limit", "/jobs/%zz": "malformed"} {
		if _, _, err := Find(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestTablesWithoutADocument derives a document from others, and says which is not there.
func TestTablesWithoutADocument(t *testing.T) {
	table := Table{}
	Serve(table, Nodes, func(context.Context, No) (a Answer[[]apidoc.Tasknode], err error) {
		a.Value = []apidoc.Tasknode{{Name: "n1"}, {Name: "n2"}}
		return a, nil
	})
	reader := table.Reader()
	if a, err := Node.Read(t.Context(), reader, NodeID{"n2"}); err != nil || a.Value.Name != "n2" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := Node.Read(t.Context(), reader, NodeID{"n3"}); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown tasknode: %v", err)
	}
	if _, err := Pools.Read(t.Context(), reader, No{}); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "All pools.") {
		t.Errorf("a document that the table lacks: %v", err)
	}
}
