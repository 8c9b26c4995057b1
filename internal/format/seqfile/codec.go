package seqfile

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
)

// errLong says that decompressed data is longer than it may be.
var errLong = errors.New("more data than announced")

// decoder decompresses the values or parts of one file.
type decoder struct {
	open func(io.Reader) (io.ReadCloser, error)
	src  bytes.Reader
}

func newDecoder(class string, c Compression) (*decoder, error) {
	if c == None {
		return nil, nil
	}
	switch class {
	case "org.apache.hadoop.io.compress.DefaultCodec":
		return &decoder{open: zlib.NewReader}, nil
	case "org.apache.hadoop.io.compress.GzipCodec":
		return &decoder{open: func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }}, nil
	}
	return nil, fmt.Errorf("codec %s unknown", class)
}

// decode appends what packed holds to dst. Beyond limit bytes it stops with
// errLong.
func (d *decoder) decode(dst, packed []byte, limit int) ([]byte, error) {
	d.src.Reset(packed)
	in, err := d.open(&d.src)
	if err != nil {
		return dst, err
	}
	defer in.Close()
	return appendAll(dst, in, limit)
}

// appendAll appends r to dst, growing as data comes.
func appendAll(dst []byte, r io.Reader, limit int) ([]byte, error) {
	const step = 4 << 10
	end := len(dst) + limit
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, make([]byte, step)...)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst) > end:
			return dst, errLong
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}

// encoder compresses the values or parts of one file.
type encoder struct {
	open func(io.Writer) io.WriteCloser
}

func newEncoder(class string, c Compression) (*encoder, error) {
	if c == None {
		return nil, nil
	}
	switch class {
	case "org.apache.hadoop.io.compress.DefaultCodec":
		return &encoder{open: func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }}, nil
	case "org.apache.hadoop.io.compress.GzipCodec":
		return &encoder{open: func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }}, nil
	}
	return nil, fmt.Errorf("codec %s unknown", class)
}

// encode puts the compressed data into dst, after what is there.
func (e *encoder) encode(dst *bytes.Buffer, data []byte) error {
	out := e.open(dst)
	if _, err := out.Write(data); err != nil {
		return err
	}
	return out.Close()
}
