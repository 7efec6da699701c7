package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"roomgate/agent/message"
	"roomgate/agent/message/book"

	"roomgate/cmd/roomgate/show"
)

const messageSendHelp = `Sends a message to the mobile device of a person, of the organizer of a booking,
or of a topic at the push gateway. It is stored when this ends; "message show"
tells how it fares on each way: through the cloud, and through the push gateway
if one is configured.`

func newMessage() *cobra.Command {
	send := &cobra.Command{Use: "send TITLE BODY", Short: "send a message to a mobile device", Long: messageSendHelp,
		Example: "  roomgate message send --to ada@example.com 'Your guests are here' 'They wait at the front desk.' --ttl 30m",
		Args:    cobra.ExactArgs(2), RunE: asking(sendMessage)}
	f := send.Flags()
	f.String("to", "", "a person, by `E-MAIL` address")
	f.String("user", "", "a user of the gateway, by `ID`")
	f.String("booking", "", "the organizer of a booking, by its `ID`")
	f.String("topic", "", "a `TOPIC` at the push gateway")
	f.String("space", "", "the meeting `SPACE` that it is about, by id or name")
	f.String("priority", "", "low, normal, high or urgent (default normal)")
	f.String("ttl", "", "how long it is worth sending, as 30m (default 24h)")
	list := &cobra.Command{Use: "list", Short: "list the messages, the newest first", Args: cobra.NoArgs, RunE: asking(listMessages)}
	list.Flags().Int("limit", 20, "at most so `MANY`, up to 200")
	show := &cobra.Command{Use: "show ID", Short: "show a message and its delivery", Args: cobra.ExactArgs(1), RunE: asking(showMessage)}
	for _, cmd := range []*cobra.Command{send, list, show} {
		clientFlags(cmd)
	}
	return group("message", "messages to mobile devices", send, list, show)
}

func sendMessage(cmd *cobra.Command, c *client, args []string) error {
	to := map[string]string{}
	for flag, field := range map[string]string{"to": "email", "user": "user_id", "booking": "booking_id", "topic": "topic"} {
		if value := text(cmd, flag); value != "" {
			to[field] = value
		}
	}
	if len(to) != 1 {
		return fail(exitUsage, "a message needs one of --to, --user, --booking and --topic")
	}
	ask := map[string]any{"to": to, "title": args[0], "body": args[1]}
	for _, flag := range []string{"priority", "ttl"} {
		if value := text(cmd, flag); value != "" {
			ask[flag] = value
		}
	}
	if name := text(cmd, "space"); name != "" {
		s, err := c.space(cmd, name)
		if err != nil {
			return err
		}
		ask["meeting_space_id"] = s.ID
	}
	var m book.Info
	if err := c.call(cmd.Context(), http.MethodPost, "/messages", ask, &m); err != nil || wantsJSON(cmd) {
		return printed(cmd, m, err)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "message %s is stored: cloud %s, push %s\n", m.ID, channelText(m.Channels.Cloud), channelText(m.Channels.Push))
	return err
}

// channelText is a way of a message with the reason.
func channelText(c message.Channel) string {
	if c.Reason == "" {
		return string(c.State)
	}
	return string(c.State) + " (" + show.Plain(c.Reason) + ")"
}

func listMessages(cmd *cobra.Command, c *client, _ []string) error {
	limit, _ := cmd.Flags().GetInt("limit")
	var answer struct {
		Messages []book.Info `json:"messages"`
	}
	if err := c.call(cmd.Context(), http.MethodGet, "/messages?limit="+strconv.Itoa(limit), nil, &answer); err != nil {
		return err
	}
	return outputSome(cmd, answer.Messages, len(answer.Messages), "none yet: send one with roomgate message send TITLE BODY", "ID CREATED TO TITLE CLOUD PUSH", func(row func(...string)) {
		for _, m := range answer.Messages {
			row(m.ID, instant(m.CreatedAt), recipient(m.To), m.Title, string(m.Channels.Cloud.State), string(m.Channels.Push.State))
		}
	})
}

func recipient(to message.To) string {
	if to.Email != "" {
		return to.Email
	}
	return to.Topic
}

func showMessage(cmd *cobra.Command, c *client, args []string) error {
	var m book.Info
	if err := c.call(cmd.Context(), http.MethodGet, "/messages/"+url.PathEscape(args[0]), nil, &m); err != nil {
		return err
	}
	return output(cmd, m, "FIELD VALUE", func(row func(...string)) {
		for _, f := range [][2]string{{"id", m.ID}, {"to", recipient(m.To)}, {"title", m.Title}, {"body", m.Body}, {"priority", string(m.Priority)},
			{"source", string(m.Source)}, {"created", instant(m.CreatedAt)}, {"expires", instant(m.ExpiresAt)},
			{"cloud", channelText(m.Channels.Cloud)}, {"push", channelText(m.Channels.Push)}} {
			row(f[0], f[1])
		}
	})
}
