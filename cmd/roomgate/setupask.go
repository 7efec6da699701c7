package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/setup"
	"roomgate/cloud"
	"roomgate/drivers"
	"roomgate/drivers/all"
)

// scanTime bounds the search for hubs.
const scanTime = 40 * time.Second

const askIntro = "\nReturn takes what stands in [ ], and where nothing does leaves the thing out; - leaves out what stands there; ? explains; back goes to the question before.\n"

// introduce reads what is configured. A file that cannot be used is told of before
// anything is asked.
func (w *wizard) introduce() error {
	known, err := config.Load(w.options.File, all.All())
	var problems *config.Errors
	switch {
	case err == nil:
		w.known = *known
	case errors.As(err, &problems):
		fmt.Fprintf(w.Out, "\n%s has mistakes: correct them first, then run %s again\n", w.options.File, w.again())
		return &fault{exitConfig, err}
	case !errors.Is(err, os.ErrNotExist):
		return fail(exitFailed, "%w", err)
	}
	w.memory, w.made = memory{typed: map[string]string{}, keys: map[string]bool{}}, map[string]string{}
	fmt.Fprint(w.Out, askIntro)
	if w.load(w.typedFile(), w.options.File) {
		fmt.Fprintln(w.Out, "Your answers of last time, which were not written, are offered again.")
	}
	return nil
}

// typedFile keeps what was typed until it is written.
func (w *wizard) typedFile() string { return w.options.File + ".typed" }

// interview asks until a plan is written, or the person leaves it. What was typed
// is kept for the next time then.
func (w *wizard) interview() (*setup.Plan, error) {
	if err := w.introduce(); err != nil {
		return nil, err
	}
	for {
		plan, err := w.asked()
		var problems *config.Errors
		switch {
		case errors.As(err, &problems):
			fmt.Fprintf(w.Out, "%v\ngo back to what is wrong with back:\n", err)
			w.back()
		case errors.Is(err, errBack):
			w.back()
		case err != nil:
			return nil, w.leave(err)
		default:
			if !flagged(w.cmd, "dry-run") {
				_ = os.Remove(w.typedFile()) // one that stays is older than the configuration
			}
			return plan, nil
		}
	}
}

// leave ends the questions: it says what is kept, and how to go on.
func (w *wizard) leave(why error) error {
	again := w.again()
	kept, err := w.keep(w.typedFile())
	switch {
	case err != nil:
		fmt.Fprintf(w.Out, "your answers cannot be kept: %v\n", err)
	case kept:
		fmt.Fprintf(w.Out, "your answers are kept in %s, without passwords: %s offers them again\n", w.typedFile(), again)
	}
	if errors.Is(why, errLeft) || w.cmd.Context().Err() != nil {
		return fail(exitFailed, "nothing was written: go on with %s", again)
	}
	return why
}

// again is the command that begins setup once more.
func (w *wizard) again() string {
	if flag := configFlag(w.cmd); flag != "" {
		return asCalled("roomgate setup" + flag)
	}
	return asCalled(sudo("roomgate setup")) // whose file is root's
}

// asked asks everything once, from memory as far as that goes, and writes it.
func (w *wizard) asked() (*setup.Plan, error) {
	w.place, w.room, w.zone, w.users = 0, 0, "", nil
	w.uses = boardUses{kinds: w.options.Kinds, known: w.known.Spaces}
	w.board, w.hubs = w.found.Clone(), slices.Clone(w.foundHubs)
	a := setup.NewAnswers()
	if err := w.ask(a); err != nil {
		return nil, err
	}
	data, err := a.YAML()
	if err != nil {
		return nil, err
	}
	return w.carryOut("the answers", data)
}

// ask asks for everything: the gateway, the cloud, the rooms.
func (w *wizard) ask(a *setup.Answers) error {
	known := w.known
	if known.Gateway.ID == "" {
		name, _ := os.Hostname()
		known.Gateway.ID = setup.Slug(name)
	}
	id, err := w.put(question{ask: "gateway id", usual: known.Gateway.ID, check: setup.GatewayID, needed: "a gateway has an id",
		help: "who this gateway is in the fleet and in the cloud's topics: 1 to 64 of a-z A-Z 0-9 . _ -, unique among your gateways"})
	if err != nil {
		return err
	}
	a.Set("gateway.id", id)
	name, err := w.put(question{ask: "gateway name", usual: known.Gateway.Name, help: "what people call it, as: house 3, ground floor"})
	if err != nil {
		return err
	}
	change(a, "gateway.name", known.Gateway.Name, name)
	if err := w.askCloud(a, known.Cloud, id); err != nil {
		return err
	}
	for _, s := range known.Spaces {
		w.say("room %s is configured and stays: name it to change it", s.Name)
	}
	for w.room = 1; ; w.room++ {
		more, err := w.askRoom(a)
		if err != nil || !more {
			w.room = 0
			w.listen(a)
			return err
		}
	}
}

// change sets a key that has another value than before; one that had a value and
// has none now is emptied.
func change(a *setup.Answers, key, before, now string) {
	switch {
	case now != "":
		a.Set(key, now)
	case before != "":
		a.Empty(key)
	}
}

func (w *wizard) askCloud(a *setup.Answers, known config.Cloud, id string) error {
	address, err := w.put(question{ask: "cloud broker", usual: string(known.URL), check: setup.BrokerAddress,
		help: "mqtts://HOST[:8883], or mqtt://HOST without encryption; nothing: the building works for itself"})
	if err != nil {
		return err
	}
	change(a, "cloud.url", string(known.URL), address)
	if address == "" {
		return nil
	}
	ask := "cloud user"
	if known.Username == "" {
		ask += " (return: none, somebody claims the gateway)"
	}
	user, err := w.put(question{ask: ask, usual: known.Username,
		help: "the name with which this gateway logs in; nothing: it gets one when somebody claims it, see roomgate claim"})
	if err != nil {
		return err
	}
	change(a, "cloud.username", known.Username, user)
	if user == "" {
		change(a, "cloud.password", string(known.Password), "")
		change(a, "cloud.password_file", known.PasswordFile, "")
		return nil
	}
	ask = cloudPassword
	if cmp.Or(string(known.Password), known.PasswordFile) != "" {
		ask += stays
	}
	q := question{ask: ask, secret: true, help: "it goes to a file that only the gateway reads, and is not shown"}
	if ask == cloudPassword && known.ClientCertificate == "" {
		q.needed = "user " + user + " has no password yet: type it, or go back to the user and take none with -"
	}
	password, err := w.put(q)
	a.Set("cloud.password", password)
	if err == nil && password != "" && w.memory.asks() {
		known.URL, known.Username, known.Password, known.PasswordFile = config.Brokers(address), user, drivers.Secret(password), ""
		switch t := w.knows(known, id); t.Cause {
		case "":
			w.say("  the broker takes user and password")
		case cloud.CauseLogin:
			w.say("  WARNING: the broker refuses user %s with this password: type back to correct it", user)
		default:
			w.say("  %s: whether user and password are right doctor says once it is; %s", t.Seen(), t.Fix())
		}
	}
	return err
}

// refused begins the next step where the doctor has failed and the broker refuses the cloud password; empty: it does not.
func (w *wizard) refused(c *config.Config) string {
	if c.Cloud.Username == "" || w.knows(c.Cloud, c.Gateway.ID).Cause != cloud.CauseLogin {
		return ""
	}
	place := cmp.Or(config.CredentialSource(c.Cloud.PasswordFile), c.Cloud.PasswordFile, "the configuration")
	return fmt.Sprintf("write the right password of cloud user %s into %s, for the broker refuses this one, then: ", c.Cloud.Username, place)
}

const cloudPassword = "cloud password"

// stays is behind a question whose answer there is already.
const stays = " (return: as it is)"

// askZone asks for the zone of a room. A machine that was never told its zone says UTC.
func (w *wizard) askZone(usual string) (string, error) {
	q := question{ask: "time zone", usual: usual, check: setup.Zone, needed: "want an IANA name like Europe/Berlin",
		help: "an IANA name like Europe/Berlin: bookings are shown in it, and its days begin in it"}
	for {
		name, err := w.put(q)
		if err != nil || !isUTC(name) {
			w.zone = name
			return name, err
		}
		sure, err := w.decide(question{ask: "do the clocks on the walls there show UTC?", usual: "n", forget: true,
			help: "a machine that nobody told its time zone says UTC; nearly no building lives by it"})
		if err != nil || sure {
			w.zone = name
			return name, err
		}
		if w.asks() {
			delete(w.typed, w.name(q))
		}
		q.usual = ""
	}
}

// zoneOf is what to offer for the zone of a room: its own, the last one given, that of
// another room, or the machine's.
func (w *wizard) zoneOf(room *config.Space) string {
	switch {
	case room != nil:
		return room.Timezone
	case w.zone != "":
		return w.zone
	case len(w.known.Spaces) > 0:
		return w.known.Spaces[len(w.known.Spaces)-1].Timezone
	case isUTC(w.options.Timezone):
		return ""
	}
	return w.options.Timezone
}

func isUTC(name string) bool {
	return slices.Contains([]string{"UTC", "UCT", "GMT", "ZULU", "UNIVERSAL"}, strings.ToUpper(strings.TrimPrefix(name, "Etc/")))
}
