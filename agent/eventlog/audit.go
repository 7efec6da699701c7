package eventlog

import (
	"context"
	"maps"

	"roomgate/store"
)

// audit is an audit event that is to be written.
type audit struct {
	log    *Log
	record Record
}

type auditKey struct{}

// WithAudit lets the change that is made with the context write an audit event: who has
// changed what. Each noun writes it with Audit, in the transaction of its change, so that no
// power cut leaves the one without the other.
func (l *Log) WithAudit(ctx context.Context, r Record) context.Context {
	return context.WithValue(ctx, auditKey{}, audit{l, r})
}

// Audit writes the audit event of a context, with what the change adds to its details, as the
// id of what was made. Without one it writes nothing.
func Audit(ctx context.Context, tx *store.Tx, more map[string]any) error {
	a, ok := ctx.Value(auditKey{}).(audit)
	if !ok {
		return nil
	}
	details := map[string]any{}
	maps.Copy(details, a.record.Details)
	maps.Copy(details, more)
	a.record.Details = details
	return a.log.Tell(tx, a.record)
}
