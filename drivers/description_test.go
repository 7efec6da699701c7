package drivers

import (
	"slices"
	"testing"
)

func TestDescriptionAction(t *testing.T) {
	d := Description{
		Actions: []Action{{Name: ActOn}},
		Subs:    []SubDevice{{Name: SubBuzzer, Actions: []Action{{Name: ActBeep}}}, {Name: SubTemperature}},
	}
	tests := []struct {
		sub, name string
		known, ok bool
	}{
		{"", ActOn, true, true},
		{"", ActBeep, true, false},
		{SubBuzzer, ActBeep, true, true},
		{SubBuzzer, ActOn, true, false},
		{SubTemperature, ActOn, true, false},
		{"tail", ActOn, false, false},
	}
	for _, tt := range tests {
		a, known, ok := d.Action(tt.sub, tt.name)
		if known != tt.known || ok != tt.ok || ok && a.Name != tt.name {
			t.Errorf("%q %q: %q, known %t, ok %t", tt.sub, tt.name, a.Name, known, ok)
		}
	}
	for sub, want := range map[string][]string{"": {ActOn}, SubBuzzer: {ActBeep}, SubTemperature: {}, "tail": {}} {
		if got := d.ActionNames(sub); !slices.Equal(got, want) {
			t.Errorf("%q has the actions %q, want %q", sub, got, want)
		}
	}
}

func TestSubDevices(t *testing.T) {
	for _, deviceType := range Types() {
		if got := len(SubDevices(deviceType)); got != 0 && deviceType != TypeO3 || deviceType == TypeO3 && got != 4 {
			t.Errorf("%s has %d sub-devices", deviceType, got)
		}
	}
	for given, want := range map[string]string{"temprature": "temperature", "temperature": "temperature", "": ""} {
		if got := Canonical(given); got != want {
			t.Errorf("%q is %q, want %q", given, got, want)
		}
	}
}
