package main

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"roomgate/agent/webhook"

	"roomgate/cmd/roomgate/show"
)

func listDeliveries(cmd *cobra.Command, c *client, args []string) error {
	limit, _ := cmd.Flags().GetInt("limit")
	path, err := c.webhookPath(cmd, args[0], "deliveries")
	if err != nil {
		return err
	}
	var answer struct {
		Data []webhook.Delivery `json:"data"`
	}
	if err := c.call(cmd.Context(), http.MethodGet, path+"?limit="+strconv.Itoa(limit), nil, &answer); err != nil {
		return noWebhook(err, args[0])
	}
	return outputSome(cmd, answer.Data, len(answer.Data), "none yet: an organization hears of its own spaces and bookings; roomgate webhook test WEBHOOK sends one now", "ID EVENT STATE TRIES CREATED LAST", func(row func(...string)) {
		for _, d := range answer.Data {
			row(d.ID, d.Event, string(d.State), strconv.Itoa(d.Count), instant(d.CreatedAt), lastAttempt(d))
		}
	})
}

// lastAttempt words the result of the last attempt.
func lastAttempt(d webhook.Delivery) string {
	if len(d.Attempts) == 0 {
		return "-"
	}
	last := d.Attempts[len(d.Attempts)-1]
	words := last.Error
	if words == "" {
		words = "answered " + strconv.Itoa(last.Status)
	}
	if d.State == webhook.Pending {
		words += ", next at " + instant(d.NextAt)
	}
	return words
}

// onDelivery asks something of a webhook that is answered with a delivery.
func (c *client) onDelivery(cmd *cobra.Command, id string, what ...string) (webhook.Delivery, error) {
	path, err := c.webhookPath(cmd, id, what...)
	if err != nil {
		return webhook.Delivery{}, err
	}
	var answer struct {
		Data webhook.Delivery `json:"data"`
	}
	err = c.call(cmd.Context(), http.MethodPost, path, nil, &answer)
	return answer.Data, noWebhook(err, id)
}

func testWebhook(cmd *cobra.Command, c *client, args []string) error {
	d, err := c.onDelivery(cmd, args[0], "test")
	if err != nil {
		return err
	}
	if wantsJSON(cmd) {
		err = show.JSON(cmd.OutOrStdout(), d)
	} else if d.State == webhook.Delivered {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "test %s is delivered: the receiver %s\n", d.ID, lastAttempt(d))
	}
	if err == nil && d.State != webhook.Delivered {
		return fail(exitFailed, "the test was not delivered: %s", lastAttempt(d))
	}
	return err
}

func redeliver(cmd *cobra.Command, c *client, args []string) error {
	d, err := c.onDelivery(cmd, args[0], "deliveries", args[1], "redeliver")
	if err != nil || wantsJSON(cmd) {
		return printed(cmd, d, err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "delivery %s is sent again\n", d.ID)
	return err
}
