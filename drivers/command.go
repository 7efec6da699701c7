package drivers

// Command is what a device is to do, checked against its description.
type Command struct {
	Sub    string // the sub-device, or empty
	Action string
	Args   Args
}

// The actions that devices take.
const (
	ActOpen       = "open"
	ActClose      = "close"
	ActOn         = "on"
	ActOff        = "off"
	ActIntensity  = "intensity"
	ActSnapshot   = "snapshot"
	ActBeep       = "beep"
	ActColor      = "color"
	ActBrightness = "brightness"
	ActPattern    = "pattern"
	ActMessage    = "message"
	ActRefresh    = "refresh"
	ActScreenshot = "screenshot"
)
