package nodelog

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// Headers of an answer with a part of a log.
const (
	HeaderOffset = "Hammr-Log-Offset" // where the part begins, in bytes
	HeaderSize   = "Hammr-Log-Size"   // bytes that the log has so far
)

// Range says which part of a log is wanted.
type Range struct {
	From int64 // first byte; if negative, so many bytes before the end
	Max  int64 // bytes at most; 0 for MaxBytes
}

// ParseRange returns the range in the query of a request: from and max.
func ParseRange(q url.Values) (r Range, err error) {
	if r.From, err = parse(q.Get("from")); err == nil {
		r.Max, err = parse(q.Get("max"))
	}
	if err != nil || r.Max < 0 {
		return r, fmt.Errorf("range of a log: from=%.40q, max=%.40q: expected numbers, max not below 0", q.Get("from"), q.Get("max"))
	}
	return r, nil
}

func parse(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	return strconv.ParseInt(text, 10, 64)
}

// In returns where the range begins in a log of size bytes, and how many bytes it has there.
func (r Range) In(size int64) (offset, length int64) {
	offset = min(r.From, size)
	if r.From < 0 {
		offset = max(0, size+r.From)
	}
	length = size - offset
	if r.Max > 0 {
		length = min(length, r.Max)
	}
	return offset, min(length, MaxBytes)
}

// Part is a part of a log.
type Part struct {
	Text   []byte
	Offset int64 // of the text
	Size   int64 // bytes that the log has so far
}

// ReadRange reads a part of a log of an attempt from a tasknode's page at host:port. clusterID may be "". If there is
// no such log, the error wraps fs.ErrNotExist. A tasknode of an older version sends the whole log, or its end.
func ReadRange(ctx context.Context, page, attempt, stream string, r Range, token, clusterID string) (Part, error) {
	text, h, err := fetch(ctx, page, fmt.Sprintf("%s/%s?from=%d&max=%d", attempt, stream, r.From, r.Max), token, clusterID)
	if err != nil {
		return Part{}, err
	}
	return partOf(text, h, r)
}

// partOf returns the part in an answer.
func partOf(text string, h http.Header, r Range) (Part, error) {
	if h.Get(HeaderSize) == "" {
		offset, length := r.In(int64(len(text)))
		return Part{[]byte(text[offset : offset+length]), offset, int64(len(text))}, nil
	}
	offset, err := strconv.ParseInt(h.Get(HeaderOffset), 10, 64)
	size, sizeErr := strconv.ParseInt(h.Get(HeaderSize), 10, 64)
	if err != nil || sizeErr != nil {
		return Part{}, fmt.Errorf("the tasknode's page: headers %s: %.40q and %s: %.40q are not numbers", HeaderOffset, h.Get(HeaderOffset), HeaderSize, h.Get(HeaderSize))
	}
	return Part{[]byte(text), offset, size}, nil
}
