package randomtextwriter

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestVocabulary(t *testing.T) {
	words := slices.Clone(vocabulary()[:])
	slices.Sort(words)
	if n := len(slices.Compact(words)); n != len(vocabulary()) {
		t.Errorf("%d different words, want %d", n, len(vocabulary()))
	}
	for _, word := range vocabulary() {
		if len(word) < 4 || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("%q is no word", word)
		}
	}
}

var size = []string{
	"-D", "mapreduce.randomtextwriter.totalbytes=30000",
	"-D", "mapreduce.randomtextwriter.bytespermap=10000",
}

// TestLines checks that sentences have 5 to 9 words as keys and 10 to 99 words as values.
// One map and three maps must write the same sentences.
func TestLines(t *testing.T) {
	dir := t.TempDir()
	lines := mrtest.Command(t, Program(), append(size, "-outFormat", "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat", dir+"/lines")...)
	if len(lines) < 30_000 || len(lines) > 33_000 {
		t.Errorf("%d bytes, want 30,000 and a little more", len(lines))
	}
	for line := range strings.Lines(lines) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if k, v := strings.Count(key, " ")+1, strings.Count(value, " ")+1; k < 5 || k > 9 || v < 10 || v > 99 {
			t.Errorf("sentences of %d and %d words", k, v)
		}
	}
	if n := len(mrtest.Parts(t, dir+"/lines")); n != 3 {
		t.Errorf("%d files, want 3", n)
	}
	args := append(size, "-D", "mapreduce.job.maps=1", "-outFormat", "TextOutputFormat", dir+"/one")
	extest.Equal(t, mrtest.Command(t, Program(), args...), lines)
}

// TestSequences checks that the SequenceFiles contain the same records as the lines.
func TestSequences(t *testing.T) {
	dir := t.TempDir()
	read := mr.MapOnly("read", mr.SequenceFile(mr.Text, mr.Text), mr.IdentityMapper[[]byte, []byte](), mr.TextOutput[[]byte, []byte]())
	written := filepath.Join(dir, "written")
	mrtest.Command(t, Program(), append(size, "-outFormat", "SequenceFileOutputFormat", written)...)
	got := mrtest.Command(t, read, written, dir+"/text")
	want := mrtest.Command(t, Program(), append(size, "-outFormat", "TextOutputFormat", dir+"/lines")...)
	extest.Equal(t, got, want)
}

func TestRandomtextwriterRefuses(t *testing.T) {
	extest.Refused(t, Program(), "")
	extest.Refused(t, Program(), "", "-outFormat", "TextOutputFormat")
	extest.Refused(t, Program(), "output format JSON:", "-outFormat", "JSON", "out")
	extest.Refused(t, Program(), "totalbytes=x", "-D", "mapreduce.randomtextwriter.totalbytes=x", "out")
}
