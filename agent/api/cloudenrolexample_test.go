package api

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"testing"

	"roomgate/cloud"
)

// The request and the certificate of the page are sealed with its secret, and belong together.
func TestEnrolmentOfThePage(t *testing.T) {
	secret, err := base64.StdEncoding.DecodeString("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if err != nil {
		t.Fatal(err)
	}
	all := examples(t)
	open := func(topic string, message any) {
		t.Helper()
		var sealed cloud.Enrolled
		e, err := cloud.Decode([]byte(all[topic]))
		if err == nil {
			err = e.DataInto(&sealed)
		}
		if err == nil {
			err = sealed.Open(secret, "roomgate/v1/demo/"+topic, message)
		}
		if err != nil {
			t.Fatalf("%s: %v", topic, err)
		}
	}
	var asked cloud.EnrolRequest
	var said cloud.EnrolAnswer
	open("up/enrol", &asked)
	open("down/enrol", &said)
	request, err := cloud.CheckRequest("demo", asked.Request)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(said.Of, cloud.OfRequest(asked.Request)) || len(said.Chain) != 2 {
		t.Fatalf("the answer is of %x with %d certificates", said.Of, len(said.Chain))
	}
	leaf, err := x509.ParseCertificate(said.Chain[0])
	if err != nil || !bytes.Equal(leaf.RawSubjectPublicKeyInfo, request.RawSubjectPublicKeyInfo) {
		t.Errorf("the certificate is of another key: %v", err)
	}
}
