package compress

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestToolsAgree checks that the common tools can read the files of this package, and the
// package their files.
func TestToolsAgree(t *testing.T) {
	want := words(1_500_000, 8)
	for _, c := range []*Codec{gzipCodec, zstdCodec, lz4Codec, bzip2Codec} {
		t.Run(c.name, func(t *testing.T) {
			tool, err := exec.LookPath(c.name)
			if err != nil {
				t.Skipf("no %s here", c.name)
			}
			var packed bytes.Buffer
			w := newWriter(t, c, &packed, 0)
			writeRecords(t, w, bytes.SplitAfter(want, []byte("\n")))
			must.Do(t, w.Close())
			if got := pipe(t, packed.Bytes(), tool, "-dc"); !bytes.Equal(got, want) {
				t.Errorf("%s reads %d bytes of %d", tool, len(got), len(want))
			}
			theirs := pipe(t, want, tool, "-c")
			if got, err := unpack(c, append(theirs, theirs...)); err != nil || !bytes.Equal(got, append(bytes.Clone(want), want...)) {
				t.Errorf("two files of %s: %d bytes, %v", tool, len(got), err)
			}
		})
	}
}

func pipe(t *testing.T, in []byte, tool, arg string) []byte {
	t.Helper()
	cmd := exec.Command(tool, arg)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v", tool, arg, err)
	}
	return out
}
