// Prints what ical.js makes of calendars, and rrule-temporal of rules: neither shares code with the gateway. Reads
// {calendars: [{file, zone, from, to}], rules: [{start, rule, count}]}; times are seconds, those of rules digits.
import { readFileSync } from "node:fs";
import "temporal-polyfill/global";
import ICAL from "ical.js";
import { RRuleTemporal } from "rrule-temporal";

// What programs call zones without defining them, beside the names of the IANA: windowsZones.xml of the CLDR.
const named = {
  "W. Europe Standard Time": "Europe/Berlin",
  "(UTC-05:00) Eastern Time (US & Canada)": "America/New_York",
  "(UTC-05:00) Eastern Time (US and Canada)": "America/New_York",
  "(GMT+10:00) Canberra, Melbourne, Sydney": "Australia/Sydney",
};

// A zone that a calendar names and does not define.
class Named extends ICAL.Timezone {
  constructor(tzid, iana) {
    super({ tzid });
    this.iana = iana;
  }
  utcOffset(t) {
    const wall = new Temporal.PlainDateTime(t.year, t.month, t.day, t.hour, t.minute, t.second);
    return wall.toZonedDateTime(this.iana).offsetNanoseconds / 1e9;
  }
}

const known = (iana) => {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: iana }) && iana;
  } catch {
    return undefined;
  }
};

// An instant; dates and times without a zone are those of the room.
function seconds(time, room) {
  if (time.zone && time.zone !== ICAL.Timezone.localTimezone && !time.isDate) return time.toUnixTime();
  const wall = new Temporal.PlainDateTime(time.year, time.month, time.day, time.hour, time.minute, time.second);
  return wall.toZonedDateTime(room).epochMilliseconds / 1000;
}

// The calendar, with dates called so where a program did not, which ical.js refuses.
const read = (file) => ICAL.parse(readFileSync(file, "utf8").replace(/\r?\n[ \t]/g, "").replace(/^(DTSTART|DTEND|EXDATE|RDATE):(\d{8})Z?\r?$/gm, "$1;VALUE=DATE:$2"));

function occurrences({ file, zone, from, to }) {
  const calendar = new ICAL.Component(read(file));
  ICAL.TimezoneService.reset();
  for (const z of calendar.getAllSubcomponents("vtimezone")) if (z.hasProperty("tzid")) ICAL.TimezoneService.register(z);
  for (const c of calendar.getAllSubcomponents("vevent")) {
    for (const p of c.getAllProperties()) {
      const tzid = p.getParameter("tzid");
      const iana = tzid && !ICAL.TimezoneService.has(tzid) && known(named[tzid] ?? tzid);
      if (iana) ICAL.TimezoneService.register(new Named(tzid, iana), tzid);
    }
  }
  const series = new Map();
  const alone = [];
  const all = calendar.getAllSubcomponents("vevent");
  for (const c of all) if (!c.hasProperty("recurrence-id")) (c.hasProperty("uid") ? series.set(c.getFirstPropertyValue("uid"), new ICAL.Event(c)) : alone.push(new ICAL.Event(c)));
  for (const c of all) {
    if (!c.hasProperty("recurrence-id")) continue;
    const event = new ICAL.Event(c);
    const of = series.get(event.uid);
    if (of) of.relateException(event);
    else alone.push(event);
  }
  const found = [];
  const add = (item, start, end) => {
    const c = item.component;
    if (c.getFirstPropertyValue("status") === "CANCELLED" || c.getFirstPropertyValue("transp") === "TRANSPARENT") return;
    const [s, e] = [seconds(start, zone), seconds(end, zone)];
    if (e > s && s < to && e > from) found.push({ start: s, end: e, title: item.summary ?? "" });
  };
  for (const event of [...series.values(), ...alone]) {
    if (!event.isRecurring()) {
      add(event, event.startDate, event.endDate);
      continue;
    }
    const next = event.iterator();
    for (let at, n = 0; n < 5000 && (at = next.next()); n++) {
      const { item, startDate, endDate } = event.getOccurrenceDetails(at);
      add(item, startDate, endDate);
      if (seconds(at, zone) > to + 400 * 86400) break;
    }
  }
  return found;
}

function starts({ start, rule, count }) {
  const date = start.length === 8 ? `DTSTART;VALUE=DATE:${start}` : `DTSTART;TZID=UTC:${start}`;
  const found = new RRuleTemporal({ rruleString: `${date}\nRRULE:${rule}`, includeDtstart: true }).all((_, i) => i < count);
  return found.map((t) => t.toPlainDateTime().toString().replace(/[-:]/g, "").slice(0, start.length));
}

const asked = JSON.parse(readFileSync(0, "utf8"));
const answer = (of, list) => list.map((x) => { try { return { found: of(x) }; } catch (e) { return { found: [], error: String(e) }; } });
console.log(JSON.stringify({ calendars: answer(occurrences, asked.calendars), rules: answer(starts, asked.rules) }));
