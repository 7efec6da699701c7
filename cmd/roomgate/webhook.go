package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/webhook"

	"roomgate/cmd/roomgate/show"
)

const webhooksPath = "/api/v1/webhooks"

// maxSecretFile bounds a file with a secret, in bytes.
const maxSecretFile = 4 << 10

const webhookCreateHelp = `Registers a receiver of notifications: each event goes by POST to the URL, signed
with the secret. Without --secret-file one is made; either way it is shown only
now, and never again.

X-Webhook-Signature is the HMAC-SHA256 of the body in hexadecimal digits. Its key
is the secret as it is written, with its whsec_. Compare it with what this prints:

  openssl dgst -sha256 -hmac SECRET BODY

Webhook-Signature is that of Standard Webhooks: its key is what comes after whsec_,
decoded from base64. The page agent/api/README.md has a receiver's check in three
languages, and /openapi what is in the body.

Events are booking.created, booking.start, booking.end, booking.cancelled,
booking.updated, booking.checked_in, booking.released, booking.displaced and
device.alert. Without booking.released and
booking.displaced such a booking comes as cancelled or, if it had begun, as ended.`

// shownWebhook is a webhook as the gateway shows it.
type shownWebhook struct {
	webhook.Info
	Secret string `json:"secret,omitempty"` // of a new one
}

func newWebhook() *cobra.Command {
	create := &cobra.Command{Use: "create URL", Short: "create a webhook", Long: webhookCreateHelp,
		Example: "  roomgate webhook create https://hooks.example.com/rooms --organization Acme --event booking.created,booking.released",
		Args:    cobra.ExactArgs(1), RunE: asking(createWebhook)}
	create.Flags().String("organization", "", "the `ORGANIZATION` that is notified, by id or name")
	create.Flags().StringSlice("event", nil, "an `EVENT` that it is notified of; more than one with commas")
	list := &cobra.Command{Use: "list", Short: "list the webhooks", Args: cobra.NoArgs, RunE: asking(listWebhooks)}
	list.Flags().String("organization", "", "those of one `ORGANIZATION`, by id or name")
	rotate := &cobra.Command{Use: "rotate WEBHOOK", Short: "give a webhook another secret and show it once",
		Long:    "The old secret signs too for a while, so that the receiver can change over.",
		Example: "  roomgate webhook rotate https://hooks.example.com/rooms --overlap 48h", Args: cobra.ExactArgs(1), RunE: asking(rotateWebhook)}
	lifeFlag(rotate, "overlap", webhook.Overlap, "how long the old secret signs too, in whole hours")
	for _, cmd := range []*cobra.Command{create, rotate} {
		cmd.Flags().String("secret-file", "", "a `FILE` with a secret of your own in its first line, - for standard input")
	}
	deliveries := &cobra.Command{Use: "deliveries WEBHOOK", Short: "list what a webhook was sent, the newest first", Args: cobra.ExactArgs(1), RunE: asking(listDeliveries)}
	deliveries.Flags().Int("limit", 20, "at most so `MANY`, up to 200")
	all := []*cobra.Command{create, list,
		{Use: "show WEBHOOK", Short: "show a webhook", Args: cobra.ExactArgs(1), RunE: asking(showWebhook)},
		deliveries,
		{Use: "test WEBHOOK", Short: "deliver a test now and show the answer", Args: cobra.ExactArgs(1), RunE: asking(testWebhook)},
		{Use: "redeliver WEBHOOK DELIVERY", Short: "deliver again, with all retries", Args: cobra.ExactArgs(2), RunE: asking(redeliver)},
		rotate,
		{Use: "enable WEBHOOK", Short: "make a failing or disabled webhook active", Args: cobra.ExactArgs(1), RunE: asking(enableWebhook)},
		{Use: "disable WEBHOOK", Short: "stop notifying a webhook", Args: cobra.ExactArgs(1), RunE: asking(disableWebhook)},
		{Use: "delete WEBHOOK", Short: "delete a webhook with its log", Args: cobra.ExactArgs(1), RunE: asking(deleteWebhook)},
	}
	for _, cmd := range all {
		clientFlags(cmd)
	}
	return group("webhook", "notifications by HTTP of what happens; a webhook is named by id or by URL", all...)
}

// webhookPath is where a webhook is, which is named by id or by URL.
func (c *client) webhookPath(cmd *cobra.Command, id string, more ...string) (string, error) {
	if strings.Contains(id, "://") {
		all, err := c.webhooks(cmd, "")
		if err != nil {
			return "", err
		}
		found := slices.DeleteFunc(all, func(w webhook.Info) bool { return w.URL != id })
		if len(found) != 1 {
			return "", fail(exitRefused, "%s: say which one by its id, see roomgate webhook list", tells(len(found), id))
		}
		id = found[0].ID
	}
	path := webhooksPath + "/" + url.PathEscape(id)
	for _, part := range more {
		path += "/" + url.PathEscape(part)
	}
	return path, nil
}

// noWebhook says what was typed if the gateway has no such webhook.
func noWebhook(err error, typed string) error {
	return absentID(err, "webhook", typed, "roomgate webhook list")
}

func tells(n int, address string) string {
	if n == 0 {
		return "no webhook tells " + address
	}
	return show.Count(n, "webhook") + " tell " + address
}

func (c *client) webhooks(cmd *cobra.Command, query string) ([]webhook.Info, error) {
	var answer struct {
		Data []webhook.Info `json:"data"`
	}
	err := c.call(cmd.Context(), http.MethodGet, webhooksPath+query, nil, &answer)
	return answer.Data, err
}

// onWebhook asks something of a webhook.
func (c *client) onWebhook(cmd *cobra.Command, method, id, what string, in any) (shownWebhook, error) {
	path, err := c.webhookPath(cmd, id)
	if err != nil {
		return shownWebhook{}, err
	}
	var answer struct {
		Data shownWebhook `json:"data"`
	}
	err = c.call(cmd.Context(), method, path+what, in, &answer)
	return answer.Data, noWebhook(err, id)
}

func createWebhook(cmd *cobra.Command, c *client, args []string) error {
	events, _ := cmd.Flags().GetStringSlice("event")
	ask := map[string]any{"url": args[0], "events": events}
	if len(events) == 0 {
		return fail(exitUsage, "a webhook needs --event, as booking.created")
	}
	owner, err := c.owner(cmd)
	if err != nil {
		return err
	}
	ask["organization_id"] = owner
	if err := addSecret(cmd, ask); err != nil {
		return err
	}
	var answer struct {
		Data shownWebhook `json:"data"`
	}
	if err := c.call(cmd.Context(), http.MethodPost, webhooksPath, ask, &answer); err != nil {
		return err
	}
	made := answer.Data
	err = sayWebhook(cmd, made)
	if made.Secret == "" {
		return err
	}
	return unshown(cmd, "webhook "+made.ID, func(ctx context.Context) error {
		return c.call(ctx, http.MethodDelete, webhooksPath+"/"+url.PathEscape(made.ID), nil, nil)
	}, err)
}

// sayWebhook shows a webhook that was made.
func sayWebhook(cmd *cobra.Command, made shownWebhook) error {
	if wantsJSON(cmd) {
		return printed(cmd, made, nil)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "webhook %s tells %s of %s\n", made.ID, show.Plain(made.URL), strings.Join(made.Events, ", "))
	return sayOnce(cmd, made, err)
}

// owner is the organization that the flag names; who comes with a key of one
// need not name it.
func (c *client) owner(cmd *cobra.Command) (string, error) {
	if name := text(cmd, "organization"); name != "" {
		o, err := c.organization(cmd, name)
		return o.ID, err
	}
	all, err := c.organizations(cmd)
	switch {
	case err != nil:
		return "", err
	case len(all) != 1:
		return "", fail(exitUsage, "there are %s here: say which one with --organization", show.Count(len(all), "organization"))
	}
	return all[0].ID, nil
}

// addSecret reads the secret of the user's own, if there is one. It is no flag:
// everybody on a machine sees those.
func addSecret(cmd *cobra.Command, ask map[string]any) error {
	secret, err := firstLine(cmd, "secret-file")
	if err == nil && secret != "" {
		ask["secret"] = secret
	}
	return err
}

// firstLine reads the first line of the file that a flag names, - for the standard
// input; without the flag it is empty.
func firstLine(cmd *cobra.Command, flag string) (string, error) {
	path := text(cmd, flag)
	if path == "" {
		return "", nil
	}
	line, err := lineGiven(cmd, path, maxSecretFile)
	if err != nil {
		return "", fail(exitUsage, "the secret cannot be read: %w", err)
	}
	if line == "" {
		return "", fail(exitUsage, "the secret cannot be read: the first line of %s is empty", path)
	}
	return line, nil
}

// sayOnce prints a secret that was made. It is shown only now.
func sayOnce(cmd *cobra.Command, w shownWebhook, err error) error {
	if w.Secret == "" || err != nil {
		return err
	}
	if _, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", w.Secret); err != nil {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "the secret is shown only now: give it to the receiver, who checks the signatures with it")
	return nil
}

func listWebhooks(cmd *cobra.Command, c *client, _ []string) error {
	query := ""
	if name := text(cmd, "organization"); name != "" {
		o, err := c.organization(cmd, name)
		if err != nil {
			return err
		}
		query = "?organization_id=" + url.QueryEscape(o.ID)
	}
	all, err := c.webhooks(cmd, query)
	if err != nil {
		return err
	}
	return outputSome(cmd, all, len(all), "none yet: make one with roomgate webhook create URL, see roomgate webhook create --help", "ID URL EVENTS STATE WAITING", func(row func(...string)) {
		for _, w := range all {
			row(w.ID, w.URL, strings.Join(w.Events, ","), string(w.State), strconv.Itoa(w.Pending))
		}
	})
}

func showWebhook(cmd *cobra.Command, c *client, args []string) error {
	w, err := c.onWebhook(cmd, http.MethodGet, args[0], "", nil)
	if err != nil {
		return err
	}
	return output(cmd, w, "FIELD VALUE", func(row func(...string)) {
		for _, f := range [][2]string{{"id", w.ID}, {"organization", w.OrganizationID}, {"url", w.URL}, {"events", strings.Join(w.Events, ", ")},
			{"state", string(w.State)}, {"reason", w.Reason}, {"waiting", strconv.Itoa(w.Pending)}, {"dropped", strconv.Itoa(w.Dropped)},
			{"last success", instant(w.LastSuccessAt)}, {"last failure", instant(w.LastFailureAt)}, {"last error", w.LastError},
			{"old secret until", instant(w.RotatesUntil)}, {"created", instant(w.CreatedAt)}} {
			if f[1] != "" {
				row(f[0], f[1])
			}
		}
	})
}

// instant is a time for people, empty for none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func rotateWebhook(cmd *cobra.Command, c *client, args []string) error {
	overlap, _ := cmd.Flags().GetDuration("overlap")
	if overlap%time.Hour != 0 || overlap < 0 {
		return fail(exitUsage, "--overlap %s is out of range: want whole hours", overlap)
	}
	ask := map[string]any{"overlap_hours": int(overlap.Hours())}
	if err := addSecret(cmd, ask); err != nil {
		return err
	}
	w, err := c.onWebhook(cmd, http.MethodPost, args[0], "/rotate-secret", ask)
	if err != nil || wantsJSON(cmd) {
		return printed(cmd, w, err)
	}
	old := "the old secret has ended"
	if !w.RotatesUntil.IsZero() {
		old = "the old secret signs too until " + instant(w.RotatesUntil)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "webhook %s has another secret: %s\n", show.Plain(args[0]), old)
	return sayOnce(cmd, w, err)
}

func enableWebhook(cmd *cobra.Command, c *client, args []string) error {
	return switchWebhook(cmd, c, args[0], webhook.Active)
}

func disableWebhook(cmd *cobra.Command, c *client, args []string) error {
	return switchWebhook(cmd, c, args[0], webhook.Disabled)
}

func switchWebhook(cmd *cobra.Command, c *client, id string, state webhook.State) error {
	w, err := c.onWebhook(cmd, http.MethodPatch, id, "", map[string]webhook.State{"state": state})
	if err != nil || wantsJSON(cmd) {
		return printed(cmd, w, err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "webhook %s is %s\n", show.Plain(id), w.State)
	return err
}

func deleteWebhook(cmd *cobra.Command, c *client, args []string) error {
	path, err := c.webhookPath(cmd, args[0])
	if err == nil {
		err = c.call(cmd.Context(), http.MethodDelete, path, nil, nil)
	}
	if err != nil {
		return noWebhook(err, args[0])
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), map[string]any{"id": args[0], "deleted": true})
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "webhook %s is deleted\n", show.Plain(args[0]))
	return err
}
