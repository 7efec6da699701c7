package broker

// unsent is what the router has written to a client and the network has not
// taken. Its connection's lock guards it.
type unsent struct {
	limit   int    // bytes that may wait
	share   *share // of the budget
	bytes   []byte
	waiting int // bytes, those that are being written with them
}

// put adds p, unless more would wait than may.
func (u *unsent) put(p []byte) bool {
	if len(u.bytes)+len(p) > u.limit {
		return false
	}
	u.bytes = append(u.bytes, p...)
	u.count(len(p))
	return true
}

// take returns what waits, to be written; nil: nothing does.
func (u *unsent) take() []byte {
	piece := u.bytes
	u.bytes = nil
	return piece
}

// written counts bytes that the network has taken.
func (u *unsent) written(n int) { u.count(-min(n, u.waiting)) } // none wait after a drop

// drop forgets what waits.
func (u *unsent) drop() {
	u.bytes = nil
	u.count(-u.waiting)
}

func (u *unsent) count(n int) {
	u.waiting += n
	u.share.add(n)
}
