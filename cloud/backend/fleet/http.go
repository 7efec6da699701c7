package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"roomgate/cloud/backend/rollout"
)

// maxBody bounds what a client may send, in bytes: a configuration has 4 MiB at most.
const maxBody = 8 << 20

// claimTime is how long a claim may take to reach the broker.
const claimTime = 20 * time.Second

// Handler serves the fleet to who has the key, in X-API-Key:
//
//	GET  /gateways                            {"gateways": [Gateway], "known": n, "online": n, "next": id}
//	GET  /rows?after=NUMBER                   {"rows": [Row]}
//	GET  /rows?newest=N                       {"rows": [Row]}, the last N
//	GET  /rollouts                            {"rollouts": [rollout.Rollout]}
//	POST /rollouts                            rollout.Order -> rollout.Rollout; without gateways for all
//	GET  /rollouts/{id}                       {"rollout": …, "steps": [rollout.Step]}
//	POST /rollouts/{id}/pause, resume, abort  -> rollout.Rollout
//	GET  /claims                              {"claims": [Claimed]}
//	POST /claims                              Claim -> Claimed
//	GET  /schedules                           {"schedules": [Schedule]}
//	PUT  /gateways/{gateway}/schedules/{id}   {"bookings": […]} -> Schedule
//	GET  /                                    a page that shows it, to everybody; it asks for the key
//
// Gateways, claims and schedules may be asked for in pages: ?from=KEY&limit=N, with next of the page before
// as the key; the last page has no next. The key of a schedule is gateway/meeting space.
//
// A refusal is a problem document (RFC 9457).
func (f *Fleet) Handler() http.Handler {
	mux := http.NewServeMux()
	route := func(pattern string, answer func(*http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if !f.holdsKey(r) {
				refuse(w, http.StatusUnauthorized, "X-API-Key is not the key of this fleet")
				return
			}
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			v, err := answer(r)
			if err != nil {
				refuse(w, status(err), err.Error())
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "no-store")
			_ = json.NewEncoder(w).Encode(v)
		})
	}
	route("GET /gateways", f.gateways)
	route("GET /rows", f.rows)
	route("GET /rollouts", f.list)
	route("POST /rollouts", f.begin)
	route("GET /rollouts/{id}", f.get)
	for does, turn := range map[string]func(string) (rollout.Rollout, error){"pause": f.Pause, "resume": f.Resume, "abort": f.Abort} {
		route("POST /rollouts/{id}/"+does, func(r *http.Request) (any, error) { return turn(r.PathValue("id")) })
	}
	route("GET /claims", func(r *http.Request) (any, error) { return pageOf[Claimed](f, r, claims, "claims") })
	route("POST /claims", f.claim)
	route("GET /schedules", func(r *http.Request) (any, error) { return pageOf[Schedule](f, r, schedules, "schedules") })
	route("PUT /gateways/{gateway}/schedules/{id}", f.schedule)
	pages(mux)
	return mux
}

// holdsKey compares the key in constant time.
func (f *Fleet) holdsKey(r *http.Request) bool {
	got, want := sha256.Sum256([]byte(r.Header.Get("X-API-Key"))), sha256.Sum256([]byte(f.o.Key))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// asked is which page a request wants; without a limit it wants all.
func asked(r *http.Request) (from string, limit int, err error) {
	q := r.URL.Query()
	limit = math.MaxInt
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 {
			return "", 0, fmt.Errorf("%w: limit is %q: want how many a page has", errInvalid, text)
		}
	}
	return q.Get("from"), limit, nil
}

func (f *Fleet) gateways(r *http.Request) (any, error) {
	id, limit, err := asked(r)
	if err != nil {
		return nil, err
	}
	some, next, known, online := f.backend.FleetFrom(id, limit)
	return map[string]any{"gateways": f.shown(some), "next": next, "known": known, "online": online}, nil
}

// pageOf is a page of a table.
func pageOf[T any](f *Fleet, r *http.Request, table, name string) (any, error) {
	key, limit, err := asked(r)
	if err != nil {
		return nil, err
	}
	some, next, err := from[T](f, table, key, limit)
	return map[string]any{name: some, "next": next}, err
}

func (f *Fleet) rows(r *http.Request) (any, error) {
	if text := r.URL.Query().Get("newest"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostRows {
			return nil, fmt.Errorf("%w: newest is %q: want how many rows, 1 to %d", errInvalid, text, mostRows)
		}
		all, err := f.Newest(n)
		return map[string]any{"rows": all}, err
	}
	var after uint64
	if text := r.URL.Query().Get("after"); text != "" {
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			return nil, fmt.Errorf("%w: after is %q: want the number of a row", errInvalid, text)
		}
		after = n
	}
	all, err := f.Rows(after)
	return map[string]any{"rows": all}, err
}

func (f *Fleet) list(*http.Request) (any, error) {
	all, err := f.List()
	if all == nil {
		all = []rollout.Rollout{}
	}
	return map[string]any{"rollouts": all}, err
}

func (f *Fleet) get(r *http.Request) (any, error) {
	one, steps, err := f.Get(r.PathValue("id"))
	return map[string]any{"rollout": one, "steps": steps}, err
}

// errInvalid is a request that cannot be read.
var errInvalid = errors.New("the request is invalid")

func (f *Fleet) begin(r *http.Request) (any, error) {
	var o rollout.Order
	if err := decode(r, &o); err != nil {
		return nil, err
	}
	if o.Gateways == nil {
		o.Gateways = f.everybody()
	}
	return f.Start(o)
}

func (f *Fleet) claim(r *http.Request) (any, error) {
	var c Claim
	if err := decode(r, &c); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(r.Context(), claimTime)
	defer stop()
	return f.Claim(ctx, c)
}

func (f *Fleet) schedule(r *http.Request) (any, error) {
	var body struct {
		Bookings []json.RawMessage `json:"bookings"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	return f.Schedule(Schedule{Gateway: r.PathValue("gateway"), MeetingSpaceID: r.PathValue("id"), Bookings: body.Bookings})
}

// decode reads a body that has no other members.
func decode(r *http.Request, v any) error {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("%w: %w", errInvalid, err)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %s", errInvalid, strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// status is that of a refusal.
func status(err error) int {
	switch {
	case errors.Is(err, rollout.ErrNotFound), errors.Is(err, errNoSpace):
		return http.StatusNotFound
	case errors.Is(err, rollout.ErrState), errors.Is(err, rollout.ErrBusy), errors.Is(err, rollout.ErrTooMany):
		return http.StatusConflict
	case errors.Is(err, rollout.ErrOrder), errors.Is(err, errInvalid):
		return http.StatusUnprocessableEntity
	}
	return http.StatusInternalServerError
}

// codes are those of a problem document, by its status.
var codes = map[int]string{http.StatusUnauthorized: "unauthorized", http.StatusNotFound: "not_found", http.StatusConflict: "conflict", http.StatusUnprocessableEntity: "invalid"}

func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	code, known := codes[status]
	if !known {
		code = "internal"
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"title": http.StatusText(status), "status": status, "code": code, "detail": detail})
}
