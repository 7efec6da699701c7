package mail

import (
	"bytes"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"time"

	"roomgate/agent/printable"
)

// maxSubject keeps the encoded line below what a relay takes (RFC 5322 section
// 2.1.1).
const maxSubject = 120

// Letter is a text to one person.
type Letter struct {
	ID      string    // the same at each try; letters, digits, "." and "-"
	To      string    // an address of ASCII
	Subject string    // what exceeds 120 bytes is cut off
	Text    string    // lines end with \n
	Date    time.Time // zero: the relay dates it (RFC 6409 section 8.2)
}

// encode writes a letter as it goes over the wire (RFC 5322). Whatever the
// texts are, each stays in its place.
func (l Letter) encode(from *mail.Address) []byte {
	var b bytes.Buffer
	_, domain, _ := strings.Cut(from.Address, "@")
	field := func(name, value string) { fmt.Fprintf(&b, "%s: %s\r\n", name, value) }
	field("From", from.String())
	field("To", (&mail.Address{Address: l.To}).String())
	field("Subject", mime.QEncoding.Encode("utf-8", printable.Cut(oneLine(l.Subject), maxSubject, "...")))
	if !l.Date.IsZero() {
		field("Date", l.Date.UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	}
	field("Message-ID", "<"+l.ID+"@"+domain+">")
	field("Auto-Submitted", "auto-generated") // RFC 3834: no vacation answers, please
	field("MIME-Version", "1.0")
	field("Content-Type", "text/plain; charset=utf-8")
	field("Content-Transfer-Encoding", "quoted-printable")
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(strings.ReplaceAll(strings.ReplaceAll(l.Text, "\r", ""), "\n", "\r\n"))) // a buffer takes all
	_ = w.Close()
	b.WriteString("\r\n")
	return b.Bytes()
}

// oneLine keeps a text from becoming two header lines.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }), " ")
}
