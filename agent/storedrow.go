package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"roomgate/agent/access"
	"roomgate/agent/claim"
	"roomgate/agent/mail"
	"roomgate/store"
)

// hidden stands for what nobody is shown.
const hidden = "(hidden)"

// hiddenWords are in the names of fields that hold secrets, or that lead to somebody who holds one, as the link of a
// calendar does.
var hiddenWords = []string{"hash", "seal", "secret", "password", "passphrase", "token", "salt", "private", "key", "pin", "url", "calendar", "topic"}

// ReadStored reads what can be read of a database that nobody has open, damaged or not: see store.ReadAside.
func ReadStored(ctx context.Context, path string, take func(store.StoredRow) error) (store.Repair, error) {
	return store.ReadAside(ctx, path, store.Options{Names: buckets(), Age: rowAge, Schema: Schema}, take)
}

// ShowStored is a row of the database for people to look at: without secrets.
func ShowStored(bucket string, row []byte) json.RawMessage {
	if slices.Contains(slices.Concat(access.SecretBuckets(), mail.Buckets(), claim.Buckets()), bucket) {
		return json.RawMessage(`"` + hidden + `"`)
	}
	var v any
	if json.Unmarshal(row, &v) != nil {
		return json.RawMessage(`"(no JSON)"`)
	}
	raw, err := json.Marshal(withoutSecrets(v))
	if err != nil {
		return json.RawMessage(`"(no JSON)"`)
	}
	return raw
}

func withoutSecrets(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, field := range v {
			if _, flag := field.(bool); !flag && slices.ContainsFunc(hiddenWords, func(w string) bool { return strings.Contains(strings.ToLower(name), w) }) {
				v[name] = hidden
				continue
			}
			v[name] = withoutSecrets(field)
		}
	case []any:
		for i := range v {
			v[i] = withoutSecrets(v[i])
		}
	}
	return v
}
