package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// releasedVersion is the newest cluster version of the last release (.ci/last-release). At a
// release it becomes FormatVersion, and goldenNames is written again with -update.
const releasedVersion = FirstVersion

// goldenNames lists the commands and fields of the last release, with their versions.
const goldenNames = "testdata/codec/names"

// persistedNames returns every command and field of logs and snapshots with its version.
func persistedNames() map[string]int {
	names := make(map[string]int)
	for _, v := range verbs {
		from := max(FirstVersion, v.from)
		names[v.name] = from
		addNames(v.command, v.name, from, names)
	}
	for name, record := range map[string]any{"snapshot": State{}, "snapshot job": Job{}, "snapshot task": Task{}} {
		addNames(reflect.TypeOf(record), name, FirstVersion, names)
	}
	return names
}

// addNames adds the fields of a type. A field is at least as new as what it is in.
func addNames(typ reflect.Type, prefix string, version int, into map[string]int) {
	if typ = elementOf(typ); typ.Kind() == reflect.Map {
		typ = elementOf(typ.Elem())
	}
	if typ.Kind() != reflect.Struct {
		return
	}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if !f.IsExported() || f.Tag.Get("cbor") == derived {
			continue
		}
		name, from := prefix, max(version, versionOf(f))
		if !f.Anonymous {
			tag, _, _ := strings.Cut(f.Tag.Get("cbor"), ",")
			name += "." + tag
			into[name] = from
		}
		addNames(f.Type, name, from, into)
	}
}

// TestNewCommandsAndFieldsHaveAVersion fails when a command or a field is added that the masters of
// the last release do not know, and its version does not say so.
func TestNewCommandsAndFieldsHaveAVersion(t *testing.T) {
	now, released := persistedNames(), readNames(t)
	for _, name := range slices.Sorted(maps.Keys(now)) {
		version, old := now[name], released[name]
		switch {
		case version > FormatVersion:
			t.Errorf("%s is of cluster version %d: raise FormatVersion, and describe the version (version.go)", name, version)
		case old == 0 && version <= releasedVersion:
			t.Errorf("%s is new, and masters of the last release stop when they get it: give it a version above %d (version.go)", name, releasedVersion)
		case old != 0 && version != old:
			t.Errorf("%s was released with cluster version %d and now has %d", name, old, version)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(released)) {
		if now[name] == 0 {
			t.Errorf("%s of the last release is gone: its logs and snapshots cannot be read any more", name)
		}
	}
}

// readNames reads goldenNames. With -update it writes it first, if a version was released since.
func readNames(t *testing.T) map[string]int {
	t.Helper()
	data, err := os.ReadFile(goldenNames)
	if head := fmt.Sprintf("cluster version %d\n", releasedVersion); *update && !bytes.HasPrefix(data, []byte(head)) {
		b := bytes.NewBufferString(head)
		names := persistedNames()
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if names[name] <= releasedVersion {
				fmt.Fprintln(b, names[name], name)
			}
		}
		data, err = b.Bytes(), nil
		writeGolden(t, goldenNames, data)
	}
	must.Do(t, err)
	names := make(map[string]int)
	for line := range strings.Lines(string(data)) {
		var version int
		if _, err := fmt.Sscan(line, &version); err == nil {
			_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			names[name] = version
		}
	}
	if len(names) < len(verbs) {
		t.Fatalf("%s lists %d names for %d commands", goldenNames, len(names), len(verbs))
	}
	return names
}

// TestNewFieldsAreLeftOutWhenTheyAreZero checks that older masters do not get the names of newer
// fields that are not used.
func TestNewFieldsAreLeftOutWhenTheyAreZero(t *testing.T) {
	types := make(map[reflect.Type]bool)
	for _, v := range verbs {
		collectStructs(v.command, types)
	}
	for _, record := range []any{State{}, Job{}, Task{}} {
		collectStructs(reflect.TypeOf(record), types)
	}
	for typ := range types {
		for i := range typ.NumField() {
			f := typ.Field(i)
			if tag := f.Tag.Get("cbor"); versionOf(f) > 0 && !strings.HasSuffix(tag, ",omitempty") && !strings.HasSuffix(tag, ",omitzero") {
				t.Errorf("%v.%s: tag %q of version %d has neither omitempty nor omitzero", typ, f.Name, tag, versionOf(f))
			}
		}
	}
}

// laterCommand is a command with a field of a later version.
type laterCommand struct {
	SetPriority
	Lists []struct{ Later *laterField }
}

type laterField struct {
	Old int
	New string `version:"9"`
}

func TestCommandsNeedTheirVersion(t *testing.T) {
	verbsByType[reflect.TypeFor[laterCommand]()] = verb{name: "set_priority"}
	verbsByType[reflect.TypeFor[bomb]()] = verb{name: "explode", from: 5}
	defer delete(verbsByType, reflect.TypeFor[laterCommand]())
	defer delete(verbsByType, reflect.TypeFor[bomb]())
	later := laterCommand{Lists: make([]struct{ Later *laterField }, 2)}
	unset := laterCommand{Lists: []struct{ Later *laterField }{{&laterField{Old: 1}}}}
	later.Lists[1].Later = &laterField{New: "set"}
	for name, c := range map[string]struct {
		command Command
		needed  int
	}{
		"a first command":             {SetPriority{job1, 3}, 0},
		"a submission":                {submit(2, 1), 0},
		"a later field that is unset": {unset, 0},
		"a later command":             {bomb{}, 5},
		"a later field":               {later, 9},
	} {
		for version := FirstVersion; version <= 10; version++ {
			err := NewAt("1", version).View().CheckVersion(c.command)
			want := fmt.Sprintf("needs cluster version %d, and the cluster has version %d", c.needed, version)
			if (err == nil) != (version >= c.needed) || err != nil && (!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s at cluster version %d: %v", name, version, err)
			}
		}
	}
	if err := NewAt("1", FirstVersion).View().CheckVersion(SetVersion{10}); err != nil {
		t.Errorf("the version is not raised: %v", err)
	}
}

func TestVersionOnlyRises(t *testing.T) {
	s := NewAt("1", FormatVersion-1)
	apply(t, s, SetVersion{FormatVersion})
	for _, version := range []int{FormatVersion, FormatVersion - 1, 0, -1} {
		if _, err := s.Apply(Entry{Command: SetVersion{version}}); !errors.Is(err, ErrRefused) || s.View().Version() != FormatVersion {
			t.Errorf("version %d after %d: %v, and the state has %d", version, FormatVersion, err, s.View().Version())
		}
	}
	if got := restored(t, encoded(t, s)).View().Version(); got != FormatVersion {
		t.Errorf("the snapshot has version %d", got)
	}
}

// TestOtherVersionsAreRefused reads logs and snapshots of an earlier and of a later version of hammr.
func TestOtherVersionsAreRefused(t *testing.T) {
	for _, version := range []int{FirstVersion - 1, FormatVersion + 1} {
		want := fmt.Sprintf("the cluster has version %d, and this version of hammr supports versions 3 to 3: install the version of hammr that the other masters run", version)
		log, err := EncodeEntries([]Entry{{Command: SetVersion{version}}})
		must.Do(t, err)
		if _, err := DecodeEntries(log); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("log: %v", err)
		}
		record, err := encoding.Marshal(map[int]any{1: "1", 2: version, 99: "a field of a later version"})
		must.Do(t, err)
		snapshot := fmt.Appendf(nil, "%s%d\n%s", snapshotHeader, snapshotVersion, record)
		if _, err := DecodeSnapshot(bytes.NewReader(snapshot)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("snapshot: %v", err)
		}
	}
}
