package o3

import "roomgate/drivers"

// The parameters of a beep.
const (
	argPattern = "pattern"
	argSeconds = "seconds"
)

// Describe says what the hub has and takes.
func (d *Device) Describe() drivers.Description {
	return drivers.Description{
		Type:    drivers.TypeO3,
		Driver:  Kind().Name,
		Summary: "a ceiling sensor hub: temperature, occupancy, buzzer and ring light",
		Actions: []drivers.Action{},
		Subs: []drivers.SubDevice{
			{Name: drivers.SubTemperature, Summary: "the temperature of the room", Unit: "°C", Actions: []drivers.Action{}},
			{
				Name: drivers.SubBuzzer, Summary: "the hub's speaker",
				Values: []string{drivers.On, drivers.Off}, Actions: buzzerActions(),
			},
			{
				Name: drivers.SubOccupancy, Summary: "whether somebody is in the room",
				Values: []string{drivers.Occupied, drivers.Vacant}, Actions: []drivers.Action{},
			},
			{
				Name: drivers.SubRing, Summary: "the ring of light around the hub",
				Values: []string{drivers.On, drivers.Off}, Actions: ringActions(),
			},
		},
	}
}

func buzzerActions() []drivers.Action {
	return []drivers.Action{
		{Name: drivers.ActOn, Summary: "sound the alarm until it is switched off"},
		{Name: drivers.ActOff, Summary: "silence the speaker, and end a beep"},
		{Name: drivers.ActBeep, Summary: "ring once, twice or three times, or sound the alarm for that many seconds", Params: []drivers.Param{
			{Name: argPattern, Kind: drivers.KindChoice, Choices: beepPatterns(), Default: beeps[0].pattern},
			{Name: argSeconds, Kind: drivers.KindNumber, Unit: "s", Min: 0.1, Max: 10, Default: 1.0},
		}},
	}
}

func ringActions() []drivers.Action {
	percent := drivers.Param{Name: drivers.ValueName, Kind: drivers.KindInteger, Unit: "%", Max: levelMax}
	return []drivers.Action{
		{Name: drivers.ActOn, Summary: "show the color that was set last"},
		{Name: drivers.ActOff, Summary: "switch the ring off"},
		{Name: drivers.ActColor, Summary: "show a color", Params: []drivers.Param{
			{Name: drivers.ValueName, Kind: drivers.KindColor},
		}},
		{Name: drivers.ActBrightness, Summary: "set how bright the ring is", Params: []drivers.Param{percent}},
		{Name: drivers.ActPattern, Summary: "play one of the hub's 13 patterns, of which 1 is off", Params: []drivers.Param{
			{Name: drivers.ValueName, Kind: drivers.KindInteger, Min: patternOff, Max: patternLast},
		}},
	}
}
