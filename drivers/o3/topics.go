package o3

import (
	"fmt"
	"slices"
)

// Topics are PREFIX/events/object/SUBTOPIC for reports and
// PREFIX/commands/object/SUBTOPIC for orders, all case sensitive.
const (
	reports = "events/object/"
	orders  = "commands/object/"
)

// The subtopics, from the maker's tables.
const (
	// Sensors, report only.
	occupantTemperature = "occupantTemperature" // 0 to 59 °C or 32 to 138 °F, 1 m above the floor
	irTemperature       = "irTemperature"       // the same range, surfaces in view
	internalTemperature = "internalTemperature" // the same range, at the ceiling
	rawTemperature      = "rawTemperature"      // the same range, uncalibrated
	occupantHumidity    = "occupantHumidity"    // 0 to 100 %
	combinedOccupancy   = "combinedOccupancy"   // 0, 1: motion and sound
	motion              = "motion"              // 0, 1
	acousticOccupancy   = "acousticOccupancy"   // 0, 1
	lightLevel          = "lightLevel"          // a level, 0 or more
	soundLevel          = "soundLevel"          // a level, 0 or more

	// Ring, report and order.
	ringPattern    = "lightringPattern"       // 1 to 13, 1 is off
	ringRepeat     = "lightringRepeat"        // 1 or more
	ringRed        = "lightringRed"           // 0 to 100
	ringGreen      = "lightringGreen"         // 0 to 100
	ringBlue       = "lightringBlue"          // 0 to 100
	ringOverride   = "lightringColorOverride" // 1 shows the color, 0 the pattern
	ringBrightness = "lightringBrightness"    // 0 to 100

	// Speaker, report and order.
	soundFile   = "soundfile"   // the name of the sound that plays
	soundRepeat = "soundRepeat" // 1 or more
)

const (
	patternOff  = 1
	patternLast = 13
	levelMax    = 100 // colors and brightness
	repeatMax   = 255 // the hub's limit is not published
)

// idleSound is what the speaker plays when it is silent. Its number is the
// maker's; the exact name has not been seen and is therefore an option.
const idleSound = "(0) Idle (Off).wav"

// defaultSounds are the hub's own, in the order of their numbers.
var defaultSounds = []string{
	"Idle (Off)", "Power On", "Acknowledge", "Chime Confirm", "Ding", "Reminder",
	"Occupancy 01", "Occupancy 02", "Cooling", "Heating", "Alarm", "Critical Alarm",
	"Error", "Alert", "Security Alarm", "Notification", "Prompt", "Question", "Done",
	"Short Cancel", "Short Confirm Yes", "Short Off", "Short On", "TNG Door", "Scanning",
	"Ambient Alert",
}

// soundName is how the hub names a default sound: "(1) Power On.wav".
func soundName(sound string) string {
	return fmt.Sprintf("(%d) %s.wav", slices.Index(defaultSounds, sound), sound)
}

func temperatureSources() []string {
	return []string{occupantTemperature, irTemperature, internalTemperature, rawTemperature}
}

func occupancySources() []string { return []string{combinedOccupancy, motion, acousticOccupancy} }
