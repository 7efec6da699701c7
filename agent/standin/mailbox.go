package standin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
)

const (
	// maxLetters is how many letters a mailbox keeps; then the oldest goes.
	maxLetters = 100
	// maxLetter bounds one letter, in bytes.
	maxLetter = 64 << 10
)

// Letter is one that a mailbox has taken.
type Letter struct {
	At      time.Time `json:"at"`
	To      string    `json:"to"`
	Subject string    `json:"subject"`
	Code    string    `json:"code"` // the one-time password in it; empty: there is none
	Text    string    `json:"text"`
}

// Mailbox is a mail relay for whoever has none. It takes every letter by SMTP (RFC
// 5321), at an address of this machine alone, and hands none on. Its methods may be
// called at the same time.
type Mailbox struct {
	server   *smtp.Server
	listener net.Listener
	log      *slog.Logger
	end      func() error // once

	mu      sync.Mutex
	letters []Letter
}

// OpenMailbox listens at a port of its own. Run serves, Close ends it also before.
func OpenMailbox(l *slog.Logger) (*Mailbox, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the stand-in mailbox: %w", err)
	}
	m := &Mailbox{listener: listener, log: l}
	m.server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &delivery{box: m}, nil }))
	m.server.Domain, m.server.MaxMessageBytes, m.server.MaxRecipients = "mail.demo", maxLetter, 1
	m.server.ReadTimeout, m.server.WriteTimeout = time.Minute, time.Minute
	m.server.ErrorLog = log.New(io.Discard, "", 0) // who breaks off is told on his side
	m.end = sync.OnceValue(func() error {
		err := errors.Join(m.server.Close(), listener.Close()) // the server knows it only once it serves
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		return err
	})
	return m, nil
}

// URL is where the mailbox takes letters, as smtp.url has it.
func (m *Mailbox) URL() string { return "smtp://" + m.listener.Addr().String() }

// Run takes letters until ctx ends.
func (m *Mailbox) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { _ = m.end() })()
	if err := m.server.Serve(m.listener); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// Close gives the port back. Closing twice is fine.
func (m *Mailbox) Close() error { return m.end() }

// Letters are the last hundred that were taken, the oldest first.
func (m *Mailbox) Letters() []Letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.letters)
}

// codeLine is the line of a letter with a one-time password.
var codeLine = regexp.MustCompile(`(?m)^ {4}(\d{6})\r?$`)

// take keeps a letter and tells of it. No mail leaves a demo, so that its log is
// the place where a person finds his one-time password.
func (m *Mailbox) take(l Letter) {
	if found := codeLine.FindStringSubmatch(l.Text); found != nil {
		l.Code = found[1]
	}
	m.mu.Lock()
	m.letters = append(m.letters, l)
	m.letters = m.letters[max(0, len(m.letters)-maxLetters):]
	m.mu.Unlock()
	m.log.Info("mailbox got", "to", l.To, "subject", l.Subject, "code", l.Code)
}

// delivery is one conversation with a mailbox.
type delivery struct {
	box *Mailbox
	to  string
}

func (d *delivery) Reset()                                    { d.to = "" }
func (d *delivery) Logout() error                             { return nil }
func (d *delivery) Mail(string, *smtp.MailOptions) error      { return nil }
func (d *delivery) Rcpt(to string, _ *smtp.RcptOptions) error { d.to = to; return nil }

// Data takes the letter (RFC 5322).
func (d *delivery) Data(r io.Reader) error {
	letter, err := mail.ReadMessage(r)
	if err != nil {
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0}, Message: "this is not a letter"}
	}
	body := letter.Body
	if letter.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(letter.Header.Get("Subject"))
	if err != nil {
		subject = letter.Header.Get("Subject")
	}
	d.box.take(Letter{At: time.Now().UTC().Truncate(time.Millisecond), To: d.to, Subject: subject, Text: string(text)})
	return nil
}
