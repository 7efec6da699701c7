package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// spdx is a list of what is inside a program (SPDX 2.3, as JSON).
type spdx struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      spdxCreation   `json:"creationInfo"`
	Packages      []spdxPackage  `json:"packages"`
	Relationships []spdxRelation `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID       string    `json:"SPDXID"`
	Name     string    `json:"name"`
	Version  string    `json:"versionInfo"`
	Download string    `json:"downloadLocation"`
	Analyzed bool      `json:"filesAnalyzed"`
	Comment  string    `json:"comment,omitempty"`
	Refs     []spdxRef `json:"externalRefs,omitempty"`
}

type spdxRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelation struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// inside lists what a program was built from: the standard library, and each
// module with the sum that go.sum has of it. The same build gives the same list.
func inside(info *debug.BuildInfo, version string) spdx {
	const document, program = "SPDXRef-DOCUMENT", "SPDXRef-roomgate"
	name := "roomgate-" + version
	s := spdx{Version: "SPDX-2.3", License: "CC0-1.0", ID: document, Name: name,
		Namespace:     "urn:roomgate:spdx:" + version + ":" + settingOf(info, "GOOS") + "-" + settingOf(info, "GOARCH") + settingOf(info, "GOARM") + ":" + settingOf(info, "vcs.revision"),
		Creation:      spdxCreation{builtAt(info), []string{"Tool: roomgate-" + version}},
		Packages:      []spdxPackage{{ID: program, Name: "roomgate", Version: version, Download: "NOASSERTION"}},
		Relationships: []spdxRelation{{document, "DESCRIBES", program}}}
	if revision := settingOf(info, "vcs.revision"); revision != "" { // else it is not known
		s.Packages[0].Comment = "revision " + revision
	}
	add := func(path, version, sum string) {
		p := spdxPackage{ID: spdxID(len(s.Packages), path), Name: path, Version: version, Download: "NOASSERTION",
			Refs: []spdxRef{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}}}
		if sum != "" {
			p.Comment = "go.sum " + sum
		}
		s.Packages = append(s.Packages, p)
		s.Relationships = append(s.Relationships, spdxRelation{program, "CONTAINS", p.ID})
	}
	add("std", strings.TrimPrefix(strings.Fields(info.GoVersion + " ")[0], "go"), "")
	for _, m := range info.Deps {
		for m.Replace != nil {
			m = m.Replace
		}
		add(m.Path, m.Version, m.Sum)
	}
	return s
}

var notOfID = regexp.MustCompile(`[^a-zA-Z0-9.-]+`)

// spdxID is unique by its number, and says what it is.
func spdxID(n int, path string) string {
	return fmt.Sprintf("SPDXRef-%d-%s", n, notOfID.ReplaceAllString(path, "-"))
}

func settingOf(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// builtAt is the time of the commit, or else the one that a package is built as
// (SOURCE_DATE_EPOCH): never now, which would be another each time.
func builtAt(info *debug.BuildInfo) string {
	if at, err := time.Parse(time.RFC3339, settingOf(info, "vcs.time")); err == nil {
		return at.UTC().Format(time.RFC3339)
	}
	seconds, _ := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64) // 0: nobody knows
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339)
}
