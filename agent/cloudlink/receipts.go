package cloudlink

import (
	"context"

	"roomgate/agent/problem"
	"roomgate/cloud"
	"roomgate/store"
)

// Receipts are how a noun answers a message of the cloud that is for it.
type Receipts struct {
	// Answer stores the receipt of a message that was carried out.
	Answer func(tx *store.Tx, message string) error
	// Again answers once more a message that was carried out before.
	Again func(ctx context.Context, message cloud.Envelope) error
	// Refuse stores the receipt of a message that was not carried out.
	Refuse func(ctx context.Context, message cloud.Envelope, why *problem.Error) error
}
