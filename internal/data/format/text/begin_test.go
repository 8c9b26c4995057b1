package text

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestCompressedFilesAreNoLines reads files that are compressed, although their names do not say
// so, and text that only resembles them.
func TestCompressedFilesAreNoLines(t *testing.T) {
	for begin, want := range map[string]string{
		"\x1F\x8B\x08\x00": "a gzip file does, but is not decompressed, so its lines would be noise; rename it to end in .gz",
		"\x28\xB5\x2F\xFD": "a zstd file", "\x04\x22\x4D\x18": "an lz4 file",
		"\xFF\x06\x00\x00sNaPpY": "a snappy file", "\xFF\x06\x00\x00S2sTwO": "an s2 file",
		"\xFD7zXZ\x00":      "an xz file does, but is not decompressed, so its lines would be noise; decompress it first",
		"]\x00\x00\x80\x00": "an lzma file", "LZIP\x01": "an lzip file", "\x89LZO\x00\r\n\x1A\n": "an lzop file",
		"\x1F\x9D\x90": "a compress (.Z) file", "PK\x03\x04": "a zip file", "7z\xBC\xAF\x27\x1C": "a 7z file", "Rar!\x1A\x07": "a rar file",
		"BZh91AY&SY": "a bzip2 file", "BZh1\x17rE8P\x90": "a bzip2 file",

		"BZh91AY&S": "", "BZh0" + "1AY&SY": "", "LZIP is a program": "", "PK\n": "", "]\n": "", "7z a b.7z\n": "", "": "", "\x1F\x8B": "",
	} {
		for _, delim := range []string{"", "#"} {
			o := put(t, "/f.txt", []byte(begin+"\nmore\n"))
			r, err := Lines(Options{Delimiter: []byte(delim)})(context.Background(), o)
			if err == nil {
				r.Close()
			}
			if want == "" && err != nil || want != "" && (!errors.Is(err, ErrCompressed) || !strings.Contains(err.Error(), "/f.txt: content begins as "+want)) {
				t.Errorf("%q: error %v, want %q", begin, err, want)
			}
			if got := values(readAll(t, Lines(Options{Delimiter: []byte("#"), AllowCompressed: true}), o)); !slices.Equal(got, []string{begin + "\nmore\n"}) {
				t.Errorf("%q: lines %q", begin, got)
			}
		}
	}
}

// TestFilesThatAreCompressedTwice decompresses a file once and finds that its content is
// compressed.
func TestFilesThatAreCompressedTwice(t *testing.T) {
	for _, name := range compress.Names() {
		codec, err := compress.Parse(name)
		must.Do(t, err)
		var b bytes.Buffer
		w, err := codec.NewWriter(&b, 0)
		must.Do(t, err)
		_, _ = w.Write([]byte("\x1F\x8B\x08 and more"))
		must.Do(t, w.Close())
		_, err = Lines(Options{})(context.Background(), put(t, "/f"+codec.Extension(), b.Bytes()))
		if !errors.Is(err, ErrCompressed) || !strings.Contains(err.Error(), "decompress it first") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestByteOrderMarkIsKeptOrDropped(t *testing.T) {
	data := []byte("\uFEFFa\n\uFEFFb\n")
	for _, path := range []string{"/f", "/f.bz2"} {
		file := data
		if path == "/f.bz2" {
			file = bzip2File(t, data)
		}
		for keep, want := range map[bool]string{false: "a", true: "\uFEFFa"} {
			if got := values(readAll(t, Lines(Options{KeepMark: keep}), put(t, path, file))); !slices.Equal(got, []string{want, "\uFEFFb"}) {
				t.Errorf("%s, keep %v: %q", path, keep, got)
			}
		}
	}
}
