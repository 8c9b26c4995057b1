package bzip2

import (
	"bytes"
	stdbzip2 "compress/bzip2"
	"fmt"
	"io"

	"github.com/dsnet/compress/bzip2"
)

// decoding is one block on its way from the file to Read. It is reused with its buffers,
// about 8 MB and the plain bytes.
//
//	cut ──> decode, in a goroutine ──> done ──> deliver
type decoding struct {
	start  int64  // bit of the file at which the block begins
	end    int64  // bit of the file at which the mark behind the block begins
	bytes  []byte // the block in the form of a stream of its own
	stream stream // the stream up to the end of the block
	done   chan struct{}

	// These fields belong to the goroutine until done is closed.
	plain   bytes.Buffer
	err     error
	decoder *bzip2.Reader // nil before the first block
	cutErr  error         // why no block could be cut; then nothing is decoded
}

// decode decodes the block and closes done.
//
// The decoder of dsnet takes about a tenth less time than that of the standard library and
// keeps its tables. It does not know the randomized blocks of old programs. So the standard
// library decides about every block that it refuses.
func (d *decoding) decode() {
	defer close(d.done)
	if d.err = d.decodeFast(); d.err == nil {
		return
	}
	d.plain.Reset()
	_, d.err = d.plain.ReadFrom(stdbzip2.NewReader(bytes.NewReader(d.bytes)))
}

// decodeFast decodes the block by dsnet's decoder. A panic of the decoder is an error: the
// bytes come from the user.
func (d *decoding) decodeFast() (err error) {
	defer func() {
		if v := recover(); v != nil {
			d.decoder, err = nil, fmt.Errorf("decoder: %v", v)
		}
	}()
	if d.decoder == nil {
		if d.decoder, err = bzip2.NewReader(nil, nil); err != nil {
			return err
		}
	}
	d.plain.Reset()
	if err := d.decoder.Reset(bytes.NewReader(d.bytes)); err != nil {
		return err
	}
	_, err = io.Copy(&d.plain, d.decoder)
	return err
}
