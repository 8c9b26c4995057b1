package compress

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zlib"
)

// Codec is one way to compress a file. Codecs are compared by pointer. All files share its
// functions; the values that open and encoder return are for one file each.
type Codec struct {
	name       string
	extension  string
	classes    []string // Hadoop class names after hadoopPackage
	aliases    []string
	frameBytes int                                        // number of plain bytes after which a frame ends with its record
	open       func(*bufio.Reader) (io.ReadCloser, error) // returns a reader of the plain bytes of any number of frames
	encoder    func(level int) (encoder, error)           // level 0 is the codec's default
	levels     [2]int                                     // lowest and highest; equal if there is no choice
}

// encoder appends one frame that holds src to dst.
type encoder func(dst, src []byte) ([]byte, error)

const hadoopPackage = "org.apache.hadoop.io.compress."

// Name returns the codec's short name, such as "gzip".
func (c *Codec) Name() string { return c.name }

// Extension returns the ending of this codec's files, such as ".gz".
func (c *Codec) Extension() string { return c.extension }

// Splittable reports whether a reader can begin within a file. Only bzip2 among these codecs
// marks its blocks.
func (c *Codec) Splittable() bool { return c == bzip2Codec }

// codecs are in the order in which Parse and ByExtension look. Codecs with the same
// extension write different bytes, and each of them reads the files of the others.
var codecs = []*Codec{
	gzipCodec, zstdCodec, s2Codec, snappyCodec, snappyFramedCodec, lz4Codec, lz4HadoopCodec, deflateCodec, bzip2Codec,
}

// ByExtension returns the codec that file's extension names, or nil for a file that is not
// compressed. Hadoop's CompressionCodecFactory chooses in the same way. If two codecs share
// an extension, each reads the files of the other.
func ByExtension(file string) *Codec {
	ext := path.Ext(file)
	i := slices.IndexFunc(codecs, func(c *Codec) bool { return ext != "" && c.extension == ext })
	if i < 0 {
		return nil
	}
	return codecs[i]
}

// Parse returns the codec of a short name ("gzip") or of a Hadoop class, with or without its
// package ("org.apache.hadoop.io.compress.GzipCodec"). Letter case does not matter. An
// unknown name is an error that lists the known names.
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

// Names returns the short names of all codecs.
func Names() []string {
	names := make([]string, len(codecs))
	for i, c := range codecs {
		names[i] = c.name
	}
	return names
}

// Class returns the Hadoop class that reads this codec's files, with its package. It returns
// "" if Hadoop has no such class.
func (c *Codec) Class() string {
	if len(c.classes) == 0 {
		return ""
	}
	return hadoopPackage + c.classes[0]
}

// FrameEncoder returns a function that appends to dst one frame that holds src, even if src
// is empty. Formats that keep many small compressed pieces in one file, such as
// SequenceFiles, use it. The function is for one goroutine.
func (c *Codec) FrameEncoder(level int) (func(dst, src []byte) ([]byte, error), error) {
	return c.encoder(level)
}

// OpenFrames reads the plain bytes of the frames in r. Unlike the errors of a Reader, its
// errors neither name a file and a place nor mark corrupt data: the caller adds both.
func (c *Codec) OpenFrames(r *bufio.Reader) (io.ReadCloser, error) { return c.open(r) }

// ReuseFrames begins to read r with a reader that OpenFrames returned earlier, to save
// memory: a zlib reader has a window of 32 KiB. ok is false if the reader cannot be reused.
func ReuseFrames(plain io.ReadCloser, r *bufio.Reader) (ok bool, err error) {
	switch z := plain.(type) {
	case *zlibReader:
		z.r = r
		return true, z.z.(zlib.Resetter).Reset(r, nil)
	case *gzipMembers:
		return true, z.reset(r)
	}
	return false, nil
}
