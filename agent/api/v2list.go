package api

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"slices"
)

// page is a part of a list of V2.0.
type page[R any] struct {
	Items []R   `json:"items"`
	Next  maybe `json:"next_cursor"` // null: there is no more
}

// listQuery reads the query of a list, which V2.0 gives in pages. V1.0 has
// lists that take no query, and ignore one.
func (c *call) listQuery(known ...string) (query, error) {
	switch {
	case c.v2:
		return c.query(append(known, "limit", "cursor")...)
	case len(known) == 0:
		return query{}, nil
	}
	return c.query(known...)
}

// list answers with a page of what there is, by its id, each as its record.
func list[T, R any](c *call, q query, all []T, id func(T) string, record func(T) R) error {
	p, err := paged(q, all, id, record)
	if err != nil {
		return err
	}
	return c.json(http.StatusOK, p)
}

// paged is the page that a query asks for. The list is sorted by id, so that
// what comes and goes between two pages moves nothing else.
func paged[T, R any](q query, all []T, id func(T) string, record func(T) R) (p page[R], err error) {
	limit, err := q.number("limit", 1, maxLimit, defaultLimit)
	if err != nil {
		return p, err
	}
	after, err := base64.RawURLEncoding.DecodeString(q.text("cursor"))
	if err != nil {
		return p, invalid("cursor", "is not a cursor: send next_cursor of an earlier answer")
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(t T) bool { return len(after) > 0 && id(t) <= string(after) })
	slices.SortFunc(rest, func(a, b T) int { return cmp.Compare(id(a), id(b)) })
	if uint64(len(rest)) > limit {
		rest = rest[:limit]
		p.Next = maybe(base64.RawURLEncoding.EncodeToString([]byte(id(rest[limit-1]))))
	}
	p.Items = records(rest, record)
	return p, nil
}

// records is a list as it is answered: never null.
func records[T, R any](all []T, record func(T) R) []R {
	out := make([]R, len(all))
	for i, t := range all {
		out[i] = record(t)
	}
	return out
}

// itself is the record of what is shown as it is.
func itself[T any](t T) T { return t }
