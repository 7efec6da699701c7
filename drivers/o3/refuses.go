package o3

import (
	"cmp"
	"context"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

// Refuses says whether a hub answers at an address and does not take the password; an
// empty one is the factory's. A hub that does not answer, as at a desk, refuses nothing.
func Refuses(ctx context.Context, b drivers.Buses, address, password string) (refused bool) {
	if !answers(ctx, b, address) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, reportWait)
	defer cancel()
	session.New(session.Options{
		Peer: "hub", Address: address, ClientID: session.NewID(), Username: factoryUser,
		Password: func() (string, error) { return cmp.Or(password, FactoryPassword), nil },
		Filters:  []string{reports + "#"}, WriteTimeout: reportWait,
		Up:      cancel,
		Receive: func(string, []byte, bool) {},
		Tend:    func(context.Context, func(context.Context) error) error { return nil },
		Down: func(cause error) bool {
			refused = refused || session.Refused(cause)
			cancel() // once is enough
			return false
		},
	}, b).Run(ctx)
	return refused
}
