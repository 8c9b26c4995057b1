package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/masterd"
	"github.com/hammr/hammr/internal/daemon/tasknoded"
	"github.com/hammr/hammr/internal/testing/must"
)

// configMaps returns the files in the ConfigMaps of the Kubernetes manifests, by name, as a pod
// mounts them.
func configMaps(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../deploy/kubernetes/hammr.yaml")
	must.Do(t, err)
	files, dir := make(map[string]string), t.TempDir()
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var object struct {
			Kind string
			Data map[string]string
		}
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return files
		}
		must.Do(t, err)
		for name, text := range object.Data {
			files[name] = filepath.Join(dir, name)
			must.Do(t, os.WriteFile(files[name], []byte(text), 0o600))
		}
	}
}

// TestDaemonsAcceptTheManifests loads the settings of the Kubernetes manifests as the daemons in the
// pods do, with the variables that each pod has.
func TestDaemonsAcceptTheManifests(t *testing.T) {
	files := configMaps(t)
	variables := func(of map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) { value, found := of[name]; return value, found }
	}
	var m masterd.Config
	err := m.Settings().Load(daemon.Sources{File: files["jobmaster.yaml"], Env: variables(map[string]string{"HAMMR_ID": "hammr-jobmaster-1"})})
	if err = errors.Join(err, m.Validate()); err != nil {
		t.Fatal(err)
	}
	var addresses []string
	for _, entry := range m.Masters {
		id, address, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(address, id+".") {
			t.Errorf("master %s is at %s, which is not a name of its pod", id, address)
		}
		addresses = append(addresses, address)
	}
	if len(addresses) != 3 || !slices.ContainsFunc(m.Masters, func(entry string) bool { return strings.HasPrefix(entry, m.ID+"=") }) {
		t.Errorf("masters are %q, without %s", m.Masters, m.ID)
	}
	var n tasknoded.Config
	err = n.Settings().Load(daemon.Sources{File: files["tasknode.yaml"], Env: variables(map[string]string{
		"HAMMR_NAME": "hammr-tasknode-0", "HAMMR_ADVERTISE": "hammr-tasknode-0.hammr-tasknode.hammr.svc.cluster.local:7071",
	})})
	if err = errors.Join(err, n.Validate()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(n.Masters, addresses) || n.ClusterID != m.ClusterID || n.TokenFile != m.TokenFile {
		t.Errorf("tasknodes look for cluster %s at %q, masters are cluster %s at %q", n.ClusterID, n.Masters, m.ClusterID, addresses)
	}
}
