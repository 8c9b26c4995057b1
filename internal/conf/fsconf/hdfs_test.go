package fsconf

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFirstKnownProtectionIsUsed reads the list as Hadoop does.
func TestFirstKnownProtectionIsUsed(t *testing.T) {
	for list, want := range map[string]string{
		"": "", "privacy": "privacy", "authentication,privacy": "authentication", "none,Integrity": "integrity", "none,other": "none,other",
	} {
		if got := protection(strings.FieldsFunc(list, func(r rune) bool { return r == ',' })); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}

// TestCAFile reads the certificate of a test server, and files without one.
func TestCAFile(t *testing.T) {
	if roots, err := webRoots(""); roots != nil || err != nil {
		t.Errorf("no file: %v, %v", roots, err)
	}
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if _, err := webRoots(file); err == nil || !strings.Contains(err.Error(), "hammr.hdfs.webhdfs.ca.file") {
		t.Errorf("missing file: %v", err)
	}
	for content, fine := range map[string]bool{
		"text": false,
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})): true,
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if roots, err := webRoots(file); (err == nil) != fine || (roots != nil) != fine {
			t.Errorf("%.30q: %v, %v", content, roots, err)
		}
	}
}
