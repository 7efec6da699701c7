// The page of a fleet: a wrong key, the right one, a claim, what comes, rollouts and a schedule
// by the forms, which send what SENT has. It prints what is wrong.
'use strict';
const { chromium } = require(process.env.MODULES + '/playwright-core');
const fs = require('fs');
const axe = fs.readFileSync(process.env.MODULES + '/axe-core/axe.min.js', 'utf8');
const wrong = (...text) => console.log('WRONG ' + text.join(' '));
const sorted = (v) => v && typeof v === 'object' ? (Array.isArray(v) ? v.map(sorted) : Object.keys(v).sort().map((k) => [k, sorted(v[k])])) : v;

(async () => {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', timezoneId: 'America/New_York', locale: 'en-US' });
	page.setDefaultTimeout(20000);
	page.on('pageerror', (e) => wrong('error', e.message));
	page.on('console', (m) => { if (/Content Security Policy/.test(m.text())) { wrong(m.text()); } });
	let sent = '';
	page.on('request', (r) => {
		if (r.method() === 'PUT' || r.method() === 'POST') { sent = r.postData(); }
		if (r.url().includes(process.env.FLEET_KEY)) { wrong('the key is in an address'); }
	});
	const seen = (text, at) => page.waitForFunction(([t, where]) => (document.querySelector(where) || document.head).textContent.includes(t), [text, at], { timeout: 60000 }).catch(async () => { throw new Error(at + ' has no ' + text + ', but ' + await page.textContent(at)); });
	const rules = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'] };
	const look = async (name) => {
		for (const [size, width, height] of [['desk', 1280, 800], ['phone', 390, 844]]) {
			await page.setViewportSize({ width, height });
			await page.screenshot({ path: process.env.OUT + '/fleet-' + name + '-' + size + '.png', fullPage: true });
			await page.evaluate(axe);
			const found = await page.evaluate((r) => window.axe.run(document, r), rules);
			for (const v of found.violations) { wrong(name, size, 'axe', v.id, v.nodes.map((n) => n.html.slice(0, 160)).join(' | ')); }
			if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) { wrong(name, size, 'is wider than its window'); }
		}
		await page.setViewportSize({ width: 1280, height: 800 });
	};
	const refused = async (field, text) => {
		await seen(text, field + '-wrong');
		const has = await page.$eval(field, (i) => [document.activeElement === i, i.getAttribute('aria-invalid'), i.getAttribute('aria-describedby').includes(i.id + '-wrong')].join());
		if (has !== 'true,true,true') { wrong(field, 'has focus, is invalid, is described:', has); }
	};
	const sends = (name) => {
		const want = JSON.parse(fs.readFileSync(process.env.SENT + '/' + name, 'utf8')), got = JSON.parse(sent);
		(got.bookings || []).forEach((b, i) => { if (!/^[0-9a-f]{32}$/.test(b.id)) { wrong('an id is', b.id); } b.id = want.bookings[i].id; });
		if (JSON.stringify(sorted(got)) !== JSON.stringify(sorted(want))) { wrong(name, 'is sent as', JSON.stringify(got)); }
	};

	await page.goto(process.env.FLEET + '/');
	await look('door');
	await page.fill('#key', 'another');
	await page.click('#door .main');
	await seen('is not the key', '#state');
	await page.fill('#key', process.env.FLEET_KEY);
	await page.click('#door .main');
	await seen('demo', '#gateways');
	await seen('Aurora', '#gateways');
	await seen('1 gateway, 1 online', '#state');
	await page.fill('#find [name=id]', 'e');
	await page.click('#find button');
	await page.click('#first-gateways');
	await seen('demo', '#gateways');

	await page.click('text=Claim a gateway');
	await page.fill('#claim [name=gateway_id]', 'demo');
	await page.fill('#claim [name=code]', 'x');
	await page.fill('#claim [name=organization]', 'Landlord');
	await page.click('#claim button');
	await seen('the claim code cannot be right', '#claim .said');
	await page.fill('#claim [name=code]', process.env.CODE);
	await page.click('#claim button');
	await seen('done', '#claims');
	await seen('roomgate.receipt', '#rows');
	await page.click('text=Claim a gateway');

	// By keyboard alone: a wrong rollout is refused by its fields, a right one begins and is done.
	await page.focus('#fleet details:has(#rollout) summary');
	await page.keyboard.press('Enter');
	await page.focus('#r-name');
	await page.keyboard.type('spread');
	await page.keyboard.press('Enter');
	await refused('#r-config', 'Configuration is missing');
	await page.keyboard.type('{"rules"');
	await page.focus('#r-growth');
	await page.fill('#r-growth', '0.5');
	await page.fill('#r-time', 'soon');
	await page.keyboard.press('Enter');
	await refused('#r-config', 'Configuration is no JSON');
	await seen('Growth is 0.5: want a number from 1 to 10', '#r-growth-wrong');
	await seen('Time-out is soon: want a whole number', '#r-time-wrong');
	await look('rollout-refused');
	await page.fill('#r-growth', '1');
	await page.fill('#r-time', '10');
	await page.fill('#r-config', '{"colour":1}');
	await page.click('#rollout button');
	await refused('#r-config', 'unknown field "colour"');
	await page.fill('#r-config', '{"reconnect_spread_s":2}');
	await page.fill('#r-gateways', 'demo');
	await page.focus('#r-time');
	await page.keyboard.press('Enter');
	await seen('spread has begun, for 1 gateway', '#rollout .said');
	sends('configuration.json');
	await seen('done', '#rollouts');

	// A release, which nobody takes: it is paused, resumed, and aborted once somebody has said yes.
	await page.check('#rollout [value=release]');
	await page.fill('#r-url', 'http://releases.example.org');
	await page.click('#rollout button');
	await refused('#r-release', 'Release is missing');
	await seen('Bundle is http://releases.example.org: want an https address', '#r-url-wrong');
	for (const [name, text] of [['release', '1.10.0'], ['url', 'https://releases.example.org/1.10.0'], ['gateways', 'absent, gone'], ['canary', '2'], ['per_minute', '0,5'], ['growth', '1.5'], ['stop_share', '25'], ['stop_after', '4'], ['timeout_s', '30']]) { await page.fill('#rollout [name=' + name + ']', text); }
	await page.click('#rollout button');
	await seen('1.10.0 has begun, for 2 gateways', '#rollout .said');
	sends('release.json');
	await page.focus('[aria-label="pause 1.10.0"]');
	await page.keyboard.press('Enter');
	await seen('1.10.0 was paused', '#turned');
	await page.click('[aria-label="resume 1.10.0"]');
	await seen('1.10.0 was resumed', '#turned');
	await page.waitForSelector('[aria-label="pause 1.10.0"]');
	await page.focus('[aria-label="abort 1.10.0"]');
	await page.keyboard.press('Enter');
	await seen('Abort 1.10.0?', '#sure');
	await look('abort');
	await page.keyboard.press('Escape');
	if (await page.$eval('#sure', (d) => d.open) || await page.evaluate(() => document.activeElement.getAttribute('aria-label')) !== 'abort 1.10.0') { wrong('Escape does not lead back to the button'); }
	await seen('running', '#rollouts');
	await page.keyboard.press('Enter');
	await page.click('#sure-yes');
	await seen('1.10.0 was aborted', '#turned');
	await seen('aborted', '#rollouts');
	await page.waitForSelector('[aria-label="abort 1.10.0"]', { state: 'detached' });
	await page.click('text=Begin a rollout');

	// A schedule, in the time of New York.
	await page.click('text=Write a schedule');
	await page.fill('#s-gateway', 'nobody');
	await page.keyboard.press('Tab');
	await seen('Gateway nobody was not heard yet', '#s-gateway-wrong');
	await page.fill('#s-gateway', 'demo');
	await page.keyboard.press('Tab');
	await page.waitForSelector('#s-space:not([disabled])');
	await page.selectOption('#s-space', { label: 'Aurora' });
	await seen('America/New_York', '#zone');
	const put = async (n, title, start, end) => {
		await page.click('#more');
		await page.keyboard.type(title);
		await page.fill('[aria-label="Start of booking ' + n + '"]', start);
		if (end) { await page.fill('[aria-label="End of booking ' + n + '"]', end); }
	};
	await put(1, 'Board meeting', '2099-07-01T09:00');
	await page.focus('#more'); // the end is an hour later by itself
	await put(2, 'Lunch', '2099-07-01T09:30', '2099-07-01T13:30');
	await page.click('#schedule .main');
	await seen('Booking 2 overlaps booking 1', '#bookings-wrong');
	await look('schedule-refused');
	await page.fill('[aria-label="Start of booking 2"]', '2099-07-01T12:00');
	await page.click('#schedule .main');
	await seen('is stored, with 2 bookings', '#schedule .said');
	sends('schedule.json');
	await seen('done', '#schedules');
	await look('fleet');
	// One is moved, one taken out: the moved one has the next revision.
	await page.fill('[aria-label="Title of booking 1"]', 'Board');
	await page.click('[aria-label="Remove booking 2"]');
	await page.click('#schedule .main');
	await seen('is stored, with 1 booking.', '#schedule .said');
	const moved = JSON.parse(sent).bookings;
	if (moved.length !== 1 || moved[0].revision !== 2 || moved[0].title !== 'Board') { wrong('a change is sent as', sent); }

	// What somebody else has written meanwhile is not written over; an empty schedule is asked about.
	await seen('done', '#schedules');
	const space = await page.inputValue('#s-space');
	const other = await page.request.put(process.env.FLEET + '/gateways/demo/schedules/' + space, { headers: { 'X-API-Key': process.env.FLEET_KEY }, data: { bookings: moved } });
	if (!other.ok()) { wrong('another one is not stored:', await other.text()); }
	await page.click('#schedule .main');
	await seen('Somebody has written revision 3 meanwhile', '#schedule .said');
	await page.selectOption('#s-space', '');
	await page.selectOption('#s-space', space);
	await page.waitForSelector('#booked:not([hidden])');
	await page.click('[aria-label="Remove booking 1"]');
	await page.click('#schedule .main');
	await seen('All that the cloud has booked in Aurora is cancelled.', '#sure');
	await page.click('#sure-no');

	// The certificates of others.
	await page.route('**/gateways?*', async (route) => {
		const answer = await route.fetch(), got = await answer.json(), one = got.gateways[0];
		const has = (id, certificate, revoked) => Object.assign({}, one, { gateway_id: id, cloud_certificate: certificate }, revoked ? { revoked } : {});
		got.gateways = [one, has('good', { state: 'good', until: '2099-02-22T12:00:00Z' }), has('late', { state: 'good', until: '2026-01-02T12:00:00Z' }), has('early', { state: 'not_yet_valid', until: '2099-02-22T12:00:00Z' }), has('taken', { state: 'good', until: '2099-02-22T12:00:00Z' }, '2026-11-02T12:00:00Z')];
		await route.fulfill({ response: answer, json: got });
	});
	await seen('revoked on 11/2/2026', '#gateways');
	const cells = await page.$$eval('#gateways tbody td:nth-child(6)', (all) => all.map((td) => td.textContent + (td.className ? ' (' + td.className + ')' : '')).join('; '));
	if (cells !== 'none; good until 2/22/2099; ended on 1/2/2026 (bad); not yet valid until 2/22/2099 (bad); revoked on 11/2/2026 (bad)') { wrong('certificates are', cells); }
	await page.emulateMedia({ colorScheme: 'dark' });
	await page.click('text=Begin a rollout');
	await look('dark');
	console.log('DONE');
	await browser.close();
})().catch((e) => { wrong(e.stack); process.exit(1); });
