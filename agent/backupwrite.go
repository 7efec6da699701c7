package agent

import (
	"context"
	"fmt"
	"io"

	"roomgate/agent/backup"
)

// copyPasses is how often a running building reads or writes each byte of its
// database before a backup begins: to copy it, to read the copy back, and for the
// checksum. Each counts as a part of the size, so that what is told goes up to
// the size once.
const copyPasses = 3

// Backup writes a backup of the running building to w, as backup.Write does:
// one consistent state of the database with everything observed so far, the
// device secret, and the configuration with what it names. It is not sealed yet.
// told is told how far the work before the first byte is, see copyPasses.
func (a *Agent) Backup(ctx context.Context, w io.Writer, c backup.Config, told backup.Progress) error {
	if err := a.Events.Flush(ctx); err != nil {
		return fmt.Errorf("write down what is pending: %w", err)
	}
	database, err := a.db.Copy(ctx, func(done, total int64) { told(done/copyPasses, total/2) })
	if err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	defer database.Close()
	g := a.options.Config.Gateway
	return backup.WriteBuilding(ctx, w, backup.Manifest{Version: a.options.Version, Schema: Schema, GatewayID: g.ID, GatewayName: g.Name}, a.options.DataDir, database, c,
		func(done, total int64) { told(((copyPasses-1)*total+done)/copyPasses, total) })
}
