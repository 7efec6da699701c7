package calendar

import "strings"

// displayZones maps the names that Windows shows to people, which Outlook on
// the web wrote as TZID without a definition, to IANA names. They are the
// descriptions in CLDR's windowsZones without the offset in front, "&" written
// as "and"; only those that stand for one rule all year round.
var displayZones = map[string]string{
	"abu dhabi, muscat": "Asia/Dubai",
	"adelaide":          "Australia/Adelaide",
	"alaska":            "America/Anchorage",
	"amsterdam, berlin, bern, rome, stockholm, vienna": "Europe/Berlin",
	"arizona":                                           "America/Phoenix",
	"athens, bucharest":                                 "Europe/Bucharest",
	"athens, bucharest, istanbul":                       "Europe/Bucharest",
	"atlantic time (canada)":                            "America/Halifax",
	"auckland, wellington":                              "Pacific/Auckland",
	"bangkok, hanoi, jakarta":                           "Asia/Bangkok",
	"beijing, chongqing, hong kong, urumqi":             "Asia/Shanghai",
	"belgrade, bratislava, budapest, ljubljana, prague": "Europe/Budapest",
	"bogota, lima, quito, rio branco":                   "America/Bogota",
	"brasilia":                                          "America/Sao_Paulo",
	"brisbane":                                          "Australia/Brisbane",
	"brussels, copenhagen, madrid, paris":               "Europe/Paris",
	"cairo":                                             "Africa/Cairo",
	"canberra, melbourne, sydney":                       "Australia/Sydney",
	"central time (us and canada)":                      "America/Chicago",
	"chennai, kolkata, mumbai, new delhi":               "Asia/Kolkata",
	"city of buenos aires":                              "America/Argentina/Buenos_Aires",
	"coordinated universal time":                        "Etc/UTC",
	"darwin":                                            "Australia/Darwin",
	"dublin, edinburgh, lisbon, london":                 "Europe/London",
	"eastern time (us and canada)":                      "America/New_York",
	"guadalajara, mexico city, monterrey":               "America/Mexico_City",
	"harare, pretoria":                                  "Africa/Johannesburg",
	"hawaii":                                            "Pacific/Honolulu",
	"helsinki, kyiv, riga, sofia, tallinn, vilnius":     "Europe/Kiev",
	"hobart":                           "Australia/Hobart",
	"indiana (east)":                   "America/Indiana/Indianapolis",
	"istanbul":                         "Europe/Istanbul",
	"jerusalem":                        "Asia/Jerusalem",
	"kuala lumpur, singapore":          "Asia/Singapore",
	"kuwait, riyadh":                   "Asia/Riyadh",
	"monrovia, reykjavik":              "Atlantic/Reykjavik",
	"moscow, st. petersburg":           "Europe/Moscow",
	"mountain time (us and canada)":    "America/Denver",
	"nairobi":                          "Africa/Nairobi",
	"newfoundland":                     "America/St_Johns",
	"osaka, sapporo, tokyo":            "Asia/Tokyo",
	"pacific time (us and canada)":     "America/Los_Angeles",
	"perth":                            "Australia/Perth",
	"santiago":                         "America/Santiago",
	"sarajevo, skopje, warsaw, zagreb": "Europe/Warsaw",
	"saskatchewan":                     "America/Regina",
	"seoul":                            "Asia/Seoul",
	"taipei":                           "Asia/Taipei",
	"west central africa":              "Africa/Lagos",
}

// displayZone finds "(UTC-05:00) Eastern Time (US & Canada)". It comes after
// the file's own definitions, which such names usually have.
func displayZone(tzid string) zone {
	prefix, name, ok := strings.Cut(strings.ToLower(tzid), ") ")
	if !ok || !strings.HasPrefix(prefix, "(utc") && !strings.HasPrefix(prefix, "(gmt") {
		return nil
	}
	name = strings.ReplaceAll(strings.TrimSpace(name), "&", "and")
	return loadZone(displayZones[name])
}
