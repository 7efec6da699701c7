package salvage

import (
	"fmt"
	"slices"
	"time"
)

// Repair says what a repair has found. It stays in the database until the next one.
type Repair struct {
	At    time.Time `json:"at"` // by a clock that may have been wrong
	Cause string    `json:"cause"`
	// SetAside is where the damaged file is, without its folder; empty: there was none.
	SetAside string `json:"set_aside,omitempty"`
	// Snapshot is the one whose rows fill what the file lacks, without its folder; empty: none was needed or there.
	Snapshot   string    `json:"snapshot,omitempty"`
	SnapshotAt time.Time `json:"snapshot_at,omitzero"`
	// Headless says that the file did not tell its newest state: the last changes may be missing anywhere. Unlisted
	// says that it did not tell which tables there were.
	Headless bool          `json:"headless,omitempty"`
	Unlisted bool          `json:"unlisted,omitempty"`
	Tables   []TableRepair `json:"tables"`
	// Told and Seen are for who opens the database: others know of it, and somebody has looked.
	Told bool      `json:"told,omitempty"`
	Seen time.Time `json:"seen,omitzero"`
	// Pending says that the file is as it was: what can be read of it is in memory only.
	Pending bool `json:"pending,omitempty"`
}

// TableRepair is what a repair has found of one table or queue, in rows.
type TableRepair struct {
	Name     string `json:"name"`     // as "table:bookings"
	Kept     int    `json:"kept"`     // of the damaged file, as they were
	Found    int    `json:"found"`    // of its pages to which nothing led any more
	Earlier  int    `json:"earlier"`  // as they were before the last change
	Snapshot int    `json:"snapshot"` // as they were in the snapshot; some may be out of date, or have been deleted since
	Lost     int    `json:"lost"`     // that were seen and cannot be read; what takes their place counts above
	// Holes are the stretches of keys that could not be read. Rows may be missing there, and nobody knows how many.
	Holes int `json:"holes"`
}

// Whole says that nothing of the table is missing or in doubt.
func (t TableRepair) Whole() bool {
	return t.Holes == 0 && t.Lost == 0 && t.Earlier == 0 && t.Snapshot == 0 && t.Found == 0
}

// Doubtful says whether rows of the table or queue may be missing or out of date.
func (r Repair) Doubtful(name string) bool {
	i := slices.IndexFunc(r.Tables, func(t TableRepair) bool { return t.Name == name })
	return r.Headless || r.Unlisted && i < 0 || i >= 0 && !r.Tables[i].Whole()
}

// Sum adds the tables up.
func (r Repair) Sum() (sum TableRepair) {
	for _, t := range r.Tables {
		sum.Kept += t.Kept
		sum.Found += t.Found
		sum.Earlier += t.Earlier
		sum.Snapshot += t.Snapshot
		sum.Lost += t.Lost
		sum.Holes += t.Holes
	}
	return sum
}

// String says it in one line.
func (r Repair) String() string {
	sum := r.Sum()
	return fmt.Sprintf("%d rows kept, %d found without their index, %d as before the last change, %d from a snapshot, %d unreadable, %d stretches with rows that may be missing",
		sum.Kept, sum.Found, sum.Earlier, sum.Snapshot, sum.Lost, sum.Holes)
}
