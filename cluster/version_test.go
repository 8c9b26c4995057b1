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

	"pgregory.net/rapid"

	"github.com/hammr/hammr/dag"
)

// releasedVersion is the newest cluster version of the last release (.ci/last-release). At a
// release it becomes FormatVersion, and goldenNames is written again with -update.
const releasedVersion = 1

// goldenNames lists the commands and fields of the last release, with their versions.
const goldenNames = "testdata/codec/names"

// persistedNames returns every command and field of logs and snapshots with its version.
func persistedNames() map[string]int {
	names := make(map[string]int)
	for _, v := range verbs {
		names[v.name] = v.from
		addNames(v.stored, v.name, v.from, names)
	}
	for name, record := range map[string]any{"snapshot": clusterRecord{}, "snapshot job": jobRecord{}, "snapshot task": taskRecord{}} {
		addNames(reflect.TypeOf(record), name, FirstVersion, names)
	}
	return names
}

// addNames adds the fields of a type. A field is at least as new as what it is in.
func addNames(typ reflect.Type, prefix string, version int, into map[string]int) {
	if typ = elementOf(typ); typ.Kind() != reflect.Struct {
		return
	}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if !f.IsExported() {
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
	if err != nil {
		t.Fatal(err)
	}
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
		collectStructs(v.stored, types)
	}
	for _, record := range []any{clusterRecord{}, jobRecord{}, taskRecord{}} {
		collectStructs(reflect.TypeOf(record), types)
	}
	for typ := range types {
		for i := range typ.NumField() {
			f := typ.Field(i)
			if tag := f.Tag.Get("cbor"); versionOf(f) > FirstVersion && !strings.HasSuffix(tag, ",omitempty") && !strings.HasSuffix(tag, ",omitzero") {
				t.Errorf("%v.%s: tag %q of version %d has neither omitempty nor omitzero", typ, f.Name, tag, versionOf(f))
			}
		}
	}
}

// sharedFiles is a graph that only cluster version 2 knows.
func sharedFiles() dag.Graph {
	return dag.Graph{
		Stages: []dag.Stage{{Name: "map", Nodes: 2}, {Name: "one", Nodes: 2}, {Name: "two", Nodes: 2}},
		Edges: []dag.Edge{
			{From: "map", To: "one", Connection: dag.OneToOne},
			{From: "map", To: "two", Connection: dag.OneToOne, FilesOf: "one"},
		},
	}
}

func TestCommandsNeedTheirVersion(t *testing.T) {
	newer := submit(2, 0)
	newer.Spec.Graph = sharedFiles()
	for name, c := range map[string]struct {
		command Command
		needed  int
	}{
		"a first command":         {SetPriority{job1, 3}, 1},
		"a preemption":            {PreemptAttempt{Attempt: attemptAt(mapTask(0), 0), Mode: "kill"}, 1},
		"a preemption for a pool": {PreemptAttempt{Attempt: attemptAt(mapTask(0), 0), Mode: "kill", For: Beneficiary{Pool: "a"}}, 2},
		"a preemption for a job":  {PreemptAttempt{Attempt: attemptAt(mapTask(0), 0), Mode: "split", For: Beneficiary{Job: job1}}, 2},
		"a job of maps":           {submit(2, 1), 1},
		"a job with shared files": {newer, 2},
	} {
		for version := FirstVersion; version <= FormatVersion; version++ {
			err := NewAt("1", version).View().CheckVersion(c.command)
			if (err == nil) != (version >= c.needed) || err != nil && (!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "needs cluster version 2, and the cluster has version 1")) {
				t.Errorf("%s at cluster version %d: %v", name, version, err)
			}
		}
	}
	if err := NewAt("1", FirstVersion).View().CheckVersion(SetVersion{2}); err != nil {
		t.Errorf("the version is not raised: %v", err)
	}
}

func TestVersionOnlyRises(t *testing.T) {
	s := NewAt("1", FirstVersion)
	apply(t, s, SetVersion{2})
	for _, version := range []int{2, 1, 0, -1} {
		if _, err := s.Apply(Entry{Command: SetVersion{version}}); !errors.Is(err, ErrRefused) || s.View().Version() != 2 {
			t.Errorf("version %d after 2: %v, and the state has %d", version, err, s.View().Version())
		}
	}
	if got := restored(t, encoded(t, s)).View().Version(); got != 2 {
		t.Errorf("the snapshot has version %d", got)
	}
	if got := restored(t, encoded(t, NewAt("1", FirstVersion))).View().Version(); got != FirstVersion {
		t.Errorf("the snapshot of a cluster of version %d has version %d", FirstVersion, got)
	}
}

// TestLaterVersionsAreRefused reads a log and a snapshot of a later version of hammr.
func TestLaterVersionsAreRefused(t *testing.T) {
	want := "the cluster has version 3, and this version of hammr supports versions 1 to 2: install the version of hammr that the other masters run"
	log, err := EncodeEntries([]Entry{{Command: SetVersion{FormatVersion + 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeEntries(log); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("log: %v", err)
	}
	record, err := encoding.Marshal(map[int]any{1: "1", 12: FormatVersion + 1, 99: "a field of a later version"})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := fmt.Appendf(nil, "%s%d\n%s", snapshotHeader, snapshotVersion, record)
	if _, err := DecodeSnapshot(bytes.NewReader(snapshot)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("snapshot: %v", err)
	}
}

// TestSnapshotsHaveNoLaterFields lets clusters of the first version live. Their snapshots have no
// field that masters of that version do not know, and their copies stay equal.
func TestSnapshotsHaveNoLaterFields(t *testing.T) {
	for _, record := range []any{clusterRecord{}, jobRecord{}, taskRecord{}} {
		findNewerFields(reflect.TypeOf(record))
	}
	rapid.Check(t, func(t *rapid.T) {
		s := NewAt("1", FirstVersion)
		for step := range rapid.IntRange(1, 60).Draw(t, "steps") {
			if c := drawCommand(t, s); s.View().CheckVersion(c) == nil {
				_, _ = s.Apply(Entry{At: int64(step + 1), Command: c}) // it may be refused
				loadSplits(s)
			}
		}
		snap := s.Snapshot()
		for i, record := range append([]any{snap.cluster}, recordsOf(snap)...) {
			if newest := newestField(reflect.ValueOf(record)); newest > FirstVersion {
				t.Fatalf("record %d has a field of version %d: %+v", i, newest, record)
			}
		}
		twin := restored(t, encoded(t, s))
		loadSplits(s, twin)
		if dump(twin) != dump(s) || twin.version != s.version {
			t.Fatal("the restored state differs")
		}
	})
}

// recordsOf returns the jobs and tasks of a snapshot.
func recordsOf(s *Snapshot) (records []any) {
	for _, j := range s.jobs {
		records = append(records, j)
		for _, tasks := range j.tasks {
			for _, task := range tasks {
				records = append(records, task)
			}
		}
	}
	return records
}

// TestKeptFilesAreOfVersion2 submits a job before and after the version is raised, and restores
// both. Only the second has the machines of its kept files.
func TestKeptFilesAreOfVersion2(t *testing.T) {
	s := NewAt("1", FirstVersion)
	job := submit(2, 0)
	job.Spec.Graph = sharedFiles()
	job.Spec.Graph.Edges[1].FilesOf = ""
	job.Spec.OutputKey, job.Spec.OutputDir = "", ""
	apply(t, s, job, SetVersion{keptFilesVersion}, job)
	for _, state := range []*State{s, restored(t, encoded(t, s))} {
		for i, want := range []int{0, 1} {
			for _, stage := range state.jobs.live[i].Stages[1:] {
				if got := len(stage.combineSets); got != want {
					t.Errorf("job %d: stage %s has %d sets, want %d", i+1, stage.Name, got, want)
				}
			}
		}
	}
}
