package layout

import (
	"bytes"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"roomgate/store/pages"
)

// tailSuffixes are what the buckets with the youngest rows of a queue end in, those with the oldest of them first. The
// first is of an earlier version, and gets no new rows.
var tailSuffixes = []string{".tail", ".t1", ".t2", ".t3", ".t4", ".t5"}

// TailsOf are the buckets with the youngest rows of the queue in that bucket, if it has a tail, oldest rows first.
func TailsOf(queue []byte) (all [][]byte) {
	for _, suffix := range tailSuffixes {
		all = append(all, append(bytes.Clone(queue), suffix...))
	}
	return all
}

// IsTail says whether a bucket is part of the tail of a queue.
func IsTail(bucket string) bool { return QueueOf(bucket) != bucket }

// QueueOf is the bucket of the queue with that tail, and each other bucket itself.
func QueueOf(bucket string) string {
	dot := strings.LastIndexByte(bucket, '.')
	if dot < 0 || !IsQueue(bucket) || !slices.Contains(tailSuffixes, bucket[dot:]) {
		return bucket
	}
	return bucket[:dot]
}

// First is the number of the first row of a queue or a tail that is not below seq, 0 if there is none.
func First(b *bbolt.Bucket, seq uint64) uint64 {
	k, _ := b.Cursor().Seek(Key(seq))
	n, _ := Number(k)
	return n
}

// Resealed is a row as it is stored in another bucket. One that is damaged stays so.
func Resealed(from, to uint32, key, raw []byte) []byte {
	_, err := pages.Payload(from, key, raw)
	raw = bytes.Clone(raw)
	if err == nil {
		pages.Seal(to, key, raw)
	}
	return raw
}

// TailRow is a row of the tail of a queue that went on without it.
type TailRow struct {
	Key, Old, Value []byte // Value: as the queue would have it
	Missing         bool   // the queue has none of that number, and older ones
}

// TailRows are the rows of a bucket of a tail, which has that name, beside its queue, oldest first. They are copies.
func TailRows(name []byte, main, tail *bbolt.Bucket) (all []TailRow) {
	from, to, oldest := pages.Seed(name), pages.Seed([]byte(QueueOf(string(name)))), First(main, 1)
	c := tail.Cursor()
	for k, raw := c.Seek(Key(1)); k != nil; k, raw = c.Next() {
		key := bytes.Clone(k)
		n, _ := Number(key)
		all = append(all, TailRow{key, bytes.Clone(raw), Resealed(from, to, key, raw), main.Get(key) == nil && n > oldest})
	}
	return all
}
