package camera

import (
	"context"
	"net/http"

	"roomgate/drivers"
)

// Refuses says whether a camera answers, and whether it does not take user and password. It reads
// no picture. A camera that does not answer, as at a desk, refuses nothing.
func Refuses(ctx context.Context, b drivers.Buses, o Options) (answered, refused bool) {
	w, err := newWeb(o, b)
	if err != nil {
		return false, false
	}
	in, err := w.login()
	if err != nil {
		return false, false
	}
	res, err := w.ask(ctx, http.MethodGet, in)
	if err != nil {
		return false, false
	}
	_ = res.Body.Close() // the answer is all that was wanted
	return true, res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden
}
