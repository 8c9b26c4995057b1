package transfer

import (
	"cmp"
	"container/list"
	"sync"
	"unsafe"

	"github.com/hammr/hammr/shuffle"
)

// indexCacheBytes is the default limit for the memory of decoded indexes.
const indexCacheBytes = 64 << 20

// indexCache keeps the most recently used indexes. The files of an attempt never change, so
// its entries never become stale. Any number of goroutines may use it. The zero value is
// ready.
type indexCache struct {
	mu struct {
		sync.Mutex
		limit  int64 // bytes; 0: indexCacheBytes
		bytes  int64 // bytes of all entries; at most limit unless there is only one
		byName map[string]*list.Element
		order  list.List // entries (*cachedIndex), last used first
	}
}

// cachedIndex is an entry of the cache. The index is shared by all readers, and not changed.
type cachedIndex struct {
	name  string // key in byName
	index *shuffle.Index
	bytes int64 // see indexBytes
}

// get returns an index, and loads it if it is missing. Two concurrent callers may both load
// it.
func (c *indexCache) get(name string, load func() (*shuffle.Index, error)) (*shuffle.Index, error) {
	if x := c.lookUp(name); x != nil {
		return x, nil
	}
	x, err := load()
	if err == nil {
		c.add(&cachedIndex{name: name, index: x, bytes: indexBytes(x)})
	}
	return x, err
}

// lookUp returns an index and marks it as used; nil if it is missing.
func (c *indexCache) lookUp(name string) *shuffle.Index {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.mu.byName[name]
	if !ok {
		return nil
	}
	c.mu.order.MoveToFront(e)
	return e.Value.(*cachedIndex).index
}

// add inserts an entry, and removes the least recently used ones beyond the limit. The
// newest entry stays even if it alone exceeds the limit.
func (c *indexCache) add(entry *cachedIndex) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.byName == nil {
		c.mu.byName = make(map[string]*list.Element)
		c.mu.limit = cmp.Or(c.mu.limit, indexCacheBytes)
	}
	if e, ok := c.mu.byName[entry.name]; ok {
		c.removeLocked(e)
	}
	c.mu.byName[entry.name] = c.mu.order.PushFront(entry)
	c.mu.bytes += entry.bytes
	for c.mu.bytes > c.mu.limit && c.mu.order.Len() > 1 {
		c.removeLocked(c.mu.order.Back())
	}
}

// remove removes an index that turned out to be wrong.
func (c *indexCache) remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.mu.byName[name]; ok {
		c.removeLocked(e)
	}
}

// removeLocked removes an element of order with its entry.
func (c *indexCache) removeLocked(e *list.Element) {
	entry := c.mu.order.Remove(e).(*cachedIndex)
	delete(c.mu.byName, entry.name)
	c.mu.bytes -= entry.bytes
}

// indexBytes returns the approximate memory of an index.
func indexBytes(x *shuffle.Index) int64 {
	n := int64(unsafe.Sizeof(*x))
	for _, runs := range x.Partitions {
		n += int64(unsafe.Sizeof(runs)) + int64(len(runs))*int64(unsafe.Sizeof(shuffle.Run{}))
	}
	return n
}
