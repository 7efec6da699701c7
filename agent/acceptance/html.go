package acceptance

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
)

//go:embed report.html
var page string

// WriteHTML writes the report as one page that needs nothing else: the style
// is in it, and the pictures are data URIs.
func (r Report) WriteHTML(w io.Writer) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"at":      func(t time.Time) string { return r.local(t).Format("2006-01-02 15:04:05 MST") },
		"data":    dataURI,
		"latency": latency,
		"named":   named,
		"verdict": r.words,
	}).Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}

// dataURI is a picture as a page can hold it. Only types that a browser does
// not run are let in; anything else is an empty picture.
func dataURI(p Picture) template.URL {
	if p.ContentType != "image/jpeg" && p.ContentType != "image/png" {
		return ""
	}
	return template.URL("data:" + p.ContentType + ";base64," + base64.StdEncoding.EncodeToString(p.Data))
}

func latency(ms float64) string {
	switch {
	case ms == 0:
		return ""
	case ms < 1000:
		return fmt.Sprintf("%.0f ms", max(ms, 1))
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}

// named is a step with the sub-device that it is about.
func named(s Step) string { return strings.TrimPrefix(s.SubDevice+": "+s.Name, ": ") }

// words is the verdict as a sentence.
func (r Report) words() string {
	switch r.Verdict {
	case Accepted:
		return "Every device was measured and seen to work."
	case Measured:
		return "Everything that a machine can measure was right. Nobody looked at the rest."
	case Incomplete:
		return "Nothing was wrong, and something was left out."
	}
	return "Not accepted: " + strings.Join(r.Failed, ", ")
}
