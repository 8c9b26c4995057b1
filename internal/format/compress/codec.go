package compress

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
)

// Codec is one way to compress a file. Codecs are compared by pointer.
// Its functions are shared by all files; what open and encoder return is for one.
type Codec struct {
	name       string
	extension  string
	classes    []string // Hadoop class names after hadoopPackage
	aliases    []string
	frameBytes int                                        // plain bytes at which a frame ends with its record
	open       func(*bufio.Reader) (io.ReadCloser, error) // reads the plain bytes of any number of frames
	encoder    func(level int) (encoder, error)           // level 0 is the codec's default
	levels     [2]int                                     // lowest and highest; equal when there is no choice
}

// encoder appends one frame that holds src to dst.
type encoder func(dst, src []byte) ([]byte, error)

const hadoopPackage = "org.apache.hadoop.io.compress."

// Name is the codec's short name, "gzip".
func (c *Codec) Name() string { return c.name }

// Extension returns the ending of this codec's files, such as ".gz".
func (c *Codec) Extension() string { return c.extension }

// Splittable reports whether a reader can begin within a file. Only bzip2 among these codecs
// marks its blocks.
func (c *Codec) Splittable() bool { return c == bzip2Codec }

// codecs are in the order in which Parse and ByExtension look. Codecs that write the same
// extension differ in the bytes they write; each reads the files of all.
var codecs = []*Codec{
	gzipCodec, zstdCodec, s2Codec, snappyCodec, snappyFramedCodec, lz4Codec, lz4HadoopCodec, deflateCodec, bzip2Codec,
}

// ByExtension is the codec of files named like file, nil for one that is not compressed.
// Hadoop's CompressionCodecFactory chooses in the same way. Where two codecs share an
// extension, each reads the files of the other.
func ByExtension(file string) *Codec {
	ext := path.Ext(file)
	i := slices.IndexFunc(codecs, func(c *Codec) bool { return ext != "" && c.extension == ext })
	if i < 0 {
		return nil
	}
	return codecs[i]
}

// Parse is the codec of a short name ("gzip") or of a Hadoop class, with or without its package
// ("org.apache.hadoop.io.compress.GzipCodec"). Letter case does not matter. An unknown name is
// an error that lists the known ones.
func Parse(name string) (*Codec, error) {
	short := strings.TrimPrefix(name, hadoopPackage)
	for _, c := range codecs {
		match := func(s string) bool { return strings.EqualFold(s, short) }
		if match(c.name) || slices.ContainsFunc(c.classes, match) || slices.ContainsFunc(c.aliases, match) {
			return c, nil
		}
	}
	return nil, fmt.Errorf("compression codec %q is not known; known are %s and Hadoop's class names", name,
		strings.Join(Names(), ", "))
}

// Names is the short names of all codecs.
func Names() []string {
	names := make([]string, len(codecs))
	for i, c := range codecs {
		names[i] = c.name
	}
	return names
}

// Class is the Hadoop class that reads this codec's files, with its package;
// "" when Hadoop has none.
func (c *Codec) Class() string {
	if len(c.classes) == 0 {
		return ""
	}
	return hadoopPackage + c.classes[0]
}

// FrameEncoder returns a function that appends to dst one frame that holds src, also when src
// is empty. It serves formats that keep many small compressed pieces in one file, such as
// SequenceFiles, and is for one goroutine.
func (c *Codec) FrameEncoder(level int) (func(dst, src []byte) ([]byte, error), error) {
	return c.encoder(level)
}

// OpenFrames reads the plain bytes of the frames in r. Unlike the errors of a Reader, its
// errors name no file or place, and no corruption: the caller adds these.
func (c *Codec) OpenFrames(r *bufio.Reader) (io.ReadCloser, error) { return c.open(r) }

// ReuseFrames begins to read r with a reader that OpenFrames has returned before, to save its
// memory: a zlib reader has a window of 32 KiB. ok is false for one that cannot be used again.
func ReuseFrames(plain io.ReadCloser, r *bufio.Reader) (ok bool, err error) {
	switch z := plain.(type) {
	case *zlibReader:
		z.r = r
		return true, z.z.(zlib.Resetter).Reset(r, nil)
	case *gzip.Reader:
		return true, z.Reset(r)
	}
	return false, nil
}
