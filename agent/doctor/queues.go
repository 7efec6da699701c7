package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/certificate"
	"roomgate/agent/config"
	"roomgate/agent/health"
	"roomgate/agent/mail"
	"roomgate/agent/push"
)

// mailRelay greets the relay as the gateway would, and adds what waits for it.
func mailRelay(ctx context.Context, x *examination) []Finding {
	const name = "mail relay"
	f := good(name, "there is one")
	switch {
	case x.Config != nil && x.Config.SMTP.URL != "" && !x.Quiet:
		f = relay(ctx, name, x.Config.SMTP)
	case x.Config != nil && x.Config.SMTP.URL == "" && !x.simulated() && (x.Building == nil || !x.Building.Outward.Mail.Configured):
		if seen, fix := x.Config.SignInAdvice(); seen != "" {
			return one(warn(name, seen, fix))
		}
		return nil
	case x.Building == nil || !x.Building.Outward.Mail.Configured:
		return nil
	}
	if x.Building != nil {
		f = f.waits(x.Building.Outward.Mail, "letter", "see the gateway's log, and the relay's")
	}
	return one(f)
}

func relay(ctx context.Context, name string, c config.SMTP) Finding {
	from, err := auth.ParseSender(c.From)
	if err != nil {
		return fail(name, "smtp.from "+err.Error(), "write it as Rooms <rooms@example.com>")
	}
	r := &mail.Relay{From: from, Username: c.Username}
	r.Address, r.Implicit, r.Plain = c.Server()
	unseen := ""
	if r.Password, err = c.Password.Reveal(c.PasswordFile); errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		r.Username, unseen = "", ", its password cannot be read by this command" // passwords says whether that is right
	} else if err != nil {
		return fail(name, "smtp.password_file: "+err.Error(), "correct it")
	}
	if r.CAs, err = certificate.Authorities(c.CAFile); err != nil {
		return fail(name, "smtp.ca_file: "+err.Error(), "correct it")
	}
	if err := r.Look(ctx); err != nil {
		return fail(name, r.Address+": "+err.Error(), "check smtp.url, user and password, and that the building's firewall lets tcp to that port pass")
	}
	return good(name, "%s answers%s", r.Address, unseen)
}

// pushGateway asks the push gateway whether it is well, and adds what waits for
// it.
func pushGateway(ctx context.Context, x *examination) []Finding {
	const name = "push gateway"
	f := good(name, "there is one")
	switch {
	case x.Config != nil && x.Config.Push.URL != "" && !x.Quiet:
		f = wellPush(ctx, name, x.Config.Push)
	case x.Building == nil || !x.Building.Outward.Push.Configured:
		return nil
	}
	if x.Building != nil {
		f = f.waits(x.Building.Outward.Push, "message", "check push.url and push.token_file, and see the gateway's log")
	}
	return one(f)
}

// wellPush asks without the token: what is well is told to everybody.
func wellPush(ctx context.Context, name string, c config.Push) Finding {
	pool, err := certificate.Authorities(c.CAFile)
	if err != nil {
		return fail(name, "push.ca_file: "+err.Error(), "correct it")
	}
	g := push.New(c.URL, func() (string, error) { return "", nil }, push.NewClient(pool))
	defer g.Close()
	switch a := g.Look(ctx); {
	case a.Status == 0:
		return fail(name, c.URL+": "+a.Error, "check push.url, and that the building's firewall lets it pass")
	case a.Kind != push.Taken:
		return warn(name, c.URL+" answers no question for its health: "+a.Error, "check that push.url is the root of a server that speaks ntfy's interface")
	}
	return good(name, "%s is well", c.URL)
}

// waits adds what the running gateway says of a queue.
func (f Finding) waits(q health.Queue, noun, fix string) Finding {
	f.Seen += fmt.Sprintf("; %s", waiting(q.Waiting, q.OldestS, noun))
	if q.Failing != "" {
		f.Seen += "; the gateway cannot hand over: " + q.Failing
		f.State = Fail
	}
	if f.State != OK && f.Fix == "" {
		f.Fix = fix
	}
	return f
}

// waiting words what waits.
func waiting(n int, oldest float64, noun string) string {
	if n == 0 {
		return "nothing waits"
	}
	return fmt.Sprintf("%s, the oldest for %v", wait(n, noun), time.Duration(oldest)*time.Second)
}

// wait words how many of them wait.
func wait(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " waits"
	}
	return count(n, noun) + " wait"
}

// webhooks says which of them fail. Their receivers are others': nobody is
// asked.
func webhooks(_ context.Context, x *examination) []Finding {
	const name = "webhooks"
	if x.Building == nil {
		return nil
	}
	w := x.Building.Outward.Webhooks
	if w.Active+w.Failing+w.Disabled == 0 {
		return nil
	}
	found := one(good(name, "%d active, %d failing, %d disabled; %s", w.Active, w.Failing, w.Disabled, waiting(w.Waiting, w.OldestS, "notification")))
	for _, t := range w.Troubled {
		found = append(found, warn("webhook at "+t.Host, "failing: "+t.Reason, "run sudo roomgate webhook deliveries "+t.ID+", and ask the people who run the receiver"))
	}
	return found
}
