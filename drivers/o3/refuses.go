package o3

import (
	"cmp"
	"context"

	"roomgate/drivers"
	"roomgate/drivers/session"
)

// Refuses says whether a hub answers a log-in at an address, and whether it does not take the
// user's password; an empty one is the factory's. A hub that does not answer, as at a desk, refuses
// nothing.
func Refuses(ctx context.Context, b drivers.Buses, address, user, password string) (answered, refused bool) {
	if !answers(ctx, b, address) {
		return false, false
	}
	ctx, cancel := context.WithTimeout(ctx, reportWait)
	defer cancel()
	session.New(session.Options{
		Peer: "hub", Address: address, ClientID: session.NewID(), Username: user,
		Password: func() (string, error) { return cmp.Or(password, FactoryPassword), nil },
		Filters:  []string{reports + "#"}, WriteTimeout: reportWait,
		Up: func() {
			answered = true
			cancel()
		},
		Receive: func(string, []byte, bool) {},
		Tend:    func(context.Context, func(context.Context) error) error { return nil },
		Down: func(cause error) bool {
			refused = refused || session.Refused(cause)
			cancel() // once is enough
			return false
		},
	}, b).Run(ctx)
	return answered || refused, refused
}
