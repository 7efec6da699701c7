package schedule

// eventSnapshotWanted is the event of a space whose bookings the cloud is asked for.
const eventSnapshotWanted = "snapshotWanted"

// EventKinds are the events that this package writes into the log.
func EventKinds() []string {
	return []string{Created, Updated, Started, Ended, Cancelled, CheckedIn, Released, Displaced, eventSnapshotWanted}
}
