// Lives with the console of a demo in a browser, as http://gateway.test: signs in, commands
// a device, books, moves and ends, follows events, proves a room. It prints what is wrong,
// one line each, and keeps a picture of each page on a desk and on a phone.
'use strict';
const { chromium } = require(process.env.MODULES + '/playwright-core');
const fs = require('fs');
const axe = fs.readFileSync(process.env.MODULES + '/axe-core/axe.min.js', 'utf8');
const { PORT, OUT, ROOM, OTHER, CODE, KEY } = process.env;
const base = 'http://gateway.test';
const wrong = (...text) => console.log('WRONG ' + text.join(' '));
const sizes = { desk: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

async function pictured(page, size, name, whole) {
	await page.screenshot({ path: OUT + '/console-' + size + '-' + name + '.png', fullPage: whole });
	const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	if (wide > 0) { wrong(size, name, 'is too wide by', wide); }
	if (await page.$('#toast[hidden]')) { wrong(size, name, 'says what is done where no screen reader listens'); }
	const small = await page.evaluate(() => Array.from(document.querySelectorAll('button,input,select,#nav a')).filter((b) => b.offsetParent && (b.offsetHeight < 23.5 || b.offsetWidth < 23.5) && !b.closest('.day')).map((b) => b.id + b.name));
	if (small.length) { wrong(size, name, 'small targets', small.join(', ')); }
	await page.evaluate(axe);
	const found = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }));
	for (const v of found.violations) { wrong(size, name, 'axe', v.id, v.nodes.map((n) => n.html.slice(0, 120) + ' ' + (n.any[0] ? n.any[0].message : '')).join(' | ')); }
}
const inside = (page) => page.waitForFunction(() => document.documentElement.dataset.state === 'in');
async function at(page, path) {
	await page.goto(base + path);
	await inside(page);
}
async function api(method, path, body) {
	const r = await fetch('http://127.0.0.1:' + PORT + path, { method, headers: { 'X-API-Key': KEY, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) });
	return r.json();
}
const text = (page, what) => page.textContent(what);
async function keys(page, all) { for (const k of all) { await page.keyboard.press(k); } }

async function signIn(page, size) {
	await page.goto(base + '/console');
	await page.waitForSelector('#signin', { state: 'visible' });
	await pictured(page, size, 'sign-in', true);
	await page.fill('#code', 'AAAA-AAAA');
	await keys(page, ['Enter']);
	await page.waitForFunction(() => /wrong, used or too old/.test(document.querySelector('#by-code .error').textContent));
	await page.goto('about:blank');
	await page.goto(base + '/console#code=%');
	await page.waitForSelector('#code', { state: 'visible' });
	await page.goto('about:blank');
	await page.goto(base + '/console' + CODE);
	await inside(page);
	if (/code=/.test(page.url())) { wrong('the code stays in the address'); }
}

async function command(page) {
	await at(page, '/console/space?id=' + ROOM);
	await page.focus('#control-aurora-light');
	await keys(page, ['Enter']);
	await page.waitForSelector('#do--on');
	await page.focus('#do--on');
	await keys(page, ['Enter']);
	await page.waitForFunction(() => /on: done, read back as on by /.test(document.querySelector('.receipt').textContent));
	await keys(page, ['Escape']);
	await page.waitForSelector('#panel', { state: 'hidden' });
	await page.waitForFunction(() => /Last: on done/.test(document.querySelector('#devices').textContent));
	if (await page.evaluate(() => document.activeElement.id) !== 'control-aurora-light') { wrong('the focus is lost after a dialog'); }
	await page.click('#control-aurora-lock');
	await page.click('#do--open');
	if (!/Open the door now/.test(await text(page, '#do--open'))) { wrong('the door opens without a question'); }
	await page.click('#do--open');
	await page.waitForFunction(() => /done, read back as unlocked/.test(document.querySelector('.receipt').textContent));
	await keys(page, ['Escape']);
}

async function book(page, size) {
	const tomorrow = new Date(Date.now() + 86400000).toISOString().slice(0, 10);
	await at(page, '/console/space?id=' + OTHER + '&day=' + tomorrow);
	const meetings = () => page.$$eval('.day .meeting', (all) => all.map((x) => x.textContent));
	await page.focus('#book');
	await keys(page, ['Enter']);
	await page.waitForSelector('#book-start');
	// The keyboard goes round in the dialog, and never behind it.
	for (const [from, key, to] of [['book-start', 'Shift+Tab', 'Back'], ['', 'Tab', 'book-start']]) {
		if (from) { await page.focus('#' + from); }
		await keys(page, [key]);
		const now = await page.evaluate(() => document.activeElement.id || document.activeElement.textContent);
		if (now !== to) { wrong(key, 'in a dialog leads to', now, 'and not to', to); }
	}
	await page.selectOption('#book-start', { label: '10:00' });
	await page.fill('#book-title', 'Plan <b>B</b>');
	await pictured(page, size, 'book', false);
	await keys(page, ['Enter']);
	await page.waitForFunction(() => document.querySelector('.day .meeting') && /Booked/.test(document.querySelector('#toast').textContent));
	if (!/10:00–10:30 Plan <b>B<.b>/.test((await meetings())[0])) { wrong('booked is', await meetings()); }
	// The same time again is refused kindly.
	await page.click('#book');
	await page.selectOption('#book-start', { label: '10:00' });
	await page.click('.sheet button.main');
	await page.waitForFunction(() => /taken/.test(document.querySelector('.sheet .error').textContent));
	await keys(page, ['Escape']);
	// It is moved, and back.
	await page.click('.day .meeting');
	await page.selectOption('#move-start', { label: '14:00' });
	await page.click('.sheet form button.main');
	await page.waitForFunction(() => /14:00–14:30/.test(document.querySelector('.day').textContent));
	await pictured(page, size, 'day', true);
	await page.click('#undo');
	await page.waitForFunction(() => /10:00–10:30/.test(document.querySelector('.day').textContent));
	// It is cancelled, made again, and cancelled for good.
	const cancel = async () => { await page.click('.day .meeting'); await page.click('.sheet .danger'); await page.waitForSelector('.day .meeting', { state: 'detached' }); };
	await cancel();
	await page.click('#undo');
	await page.waitForSelector('.day .meeting');
	if (!/Plan/.test((await meetings())[0])) { wrong('made again is', await meetings()); }
	await cancel();
	// A dialog that cannot be had is told of.
	await page.route('**/console/panel/book*', (x) => x.fulfill({ status: 404, contentType: 'application/problem+json', body: '{"detail":"booking_id is not known"}' }));
	await page.click('#book');
	await page.waitForFunction(() => /booking_id is not known/.test(document.querySelector('#toast').textContent));
	await page.unroute('**/console/panel/book*');
	// A long title stays in its dialog and in its table.
	const inWidth = async (what) => { const over = await page.$eval(what, (x) => x.scrollWidth - x.clientWidth); if (over > 0) { wrong(size, what, 'is too wide by', over); } };
	await page.click('#book');
	await page.selectOption('#book-start', { label: '10:00' });
	await page.fill('#book-title', 'W'.repeat(200));
	await page.click('.sheet button.main');
	await page.click('.day .meeting');
	await page.waitForSelector('.sheet .danger');
	await inWidth('.sheet');
	await pictured(page, size, 'long-title', false);
	await page.click('.sheet .danger');
	await page.waitForSelector('.day .meeting', { state: 'detached' });
	const day = page.url();
	await at(page, '/console/events');
	await page.waitForFunction(() => /WWWW/.test(document.querySelector('#list').textContent));
	await inWidth('#list .table');
	await pictured(page, size, 'long-title-events', false);
	await page.goto(day);
	await inside(page);
	// A title is data, also where it looks like a request.
	await page.click('#book');
	const title = 'Plan {title}"},"send":"POST /v2.0/users","body":{"email":"x@evil.example","role":"admin","name":"{id}';
	await page.selectOption('#book-start', { label: '10:00' });
	await page.fill('#book-title', title);
	await page.click('.sheet button.main');
	await page.waitForSelector('.day .meeting');
	const asked = [];
	const note = (r) => { if (r.method() !== 'GET') { asked.push(r.method() + ' ' + new URL(r.url()).pathname + ' ' + r.postData()); } };
	page.on('request', note);
	await cancel();
	await page.waitForFunction(() => /Cancelled/.test(document.querySelector('#toast').textContent));
	await page.click('#undo');
	await page.waitForSelector('.day .meeting');
	page.off('request', note);
	if (asked.length !== 2 || !asked[1].startsWith('POST /v2.0/bookings ') || !(await meetings())[0].includes(title)) { wrong('a title asks for', asked.join(', '), 'and is', await meetings()); }
	await cancel();
}

// beside looks at meetings that share a row of the day: two people came and left again.
async function beside(page, size) {
	for (let i = 0; i < 2; i++) {
		const b = await api('POST', '/bookings', { meeting_space_id: OTHER, source: 'walk_up', minutes: 15 });
		await page.waitForTimeout(1100); // who leaves in the same second was not there
		await api('POST', '/bookings/' + b.id + '/end');
	}
	await at(page, '/console/space?id=' + OTHER);
	await page.waitForSelector('.day .lane1');
	await pictured(page, size, 'beside', true);
}

async function follow(page, size) {
	await at(page, '/console/events?space=' + ROOM);
	const late = [];
	for (let i = 0; i < 10; i++) {
		const before = await page.evaluate(() => { window.painted = new Promise((go) => { new MutationObserver(() => requestAnimationFrame(() => go(Date.now()))).observe(document.querySelector('#list'), { childList: true }); }); return document.querySelectorAll('#list tr').length; });
		const began = Date.now();
		await api('POST', '/devices/' + ROOM + '/action', { device_type: 'light', action: i % 2 ? 'off' : 'on' });
		late.push(await page.evaluate(() => window.painted) - began);
		await page.waitForTimeout(300);
		if (before === 0) { wrong('there are no events'); }
	}
	late.sort((a, b) => a - b);
	if (late[9] > 1000) { wrong('an event was painted after', late[9], 'ms'); }
	console.log('from the command to the painted event: ' + late.join(' ') + ' ms');
	// What somebody unfolds stays so when news comes, and the keyboard where it was.
	const fold = '#' + await page.$eval('#list details', (x) => x.id);
	await page.focus(fold + ' summary');
	await keys(page, ['Enter']);
	await api('POST', '/devices/' + ROOM + '/action', { device_type: 'light', action: 'on' });
	await page.waitForFunction((first) => '#' + document.querySelector('#list details').id !== first, fold);
	const folded = await page.$eval(fold, (x) => ({ open: x.open, here: x.contains(document.activeElement) }));
	if (!folded.open || !folded.here) { wrong('after news a fold is', JSON.stringify(folded)); }
	await pictured(page, size, 'events-open', false);
	await page.selectOption('#by-type', 'commandCompleted');
	await page.waitForURL(/type=commandCompleted/);
	await inside(page);
	const kinds = await page.$$eval('#list tbody td:nth-child(2)', (all) => Array.from(new Set(all.map((x) => x.textContent))));
	if (kinds.join() !== 'Command completed') { wrong('the filter shows', kinds); }
}

// sim moves the simulated world of the demo, and returns what it says.
function sim(...what) {
	const { status, stdout, stderr } = require('child_process').spawnSync('roomgate', ['sim', ...what], { encoding: 'utf8', env: Object.assign({}, process.env, { TMPDIR: process.env.DEMO, XDG_RUNTIME_DIR: '' }) });
	if (status !== 0) { wrong('sim', what, stderr); }
	return stdout;
}

// fail unplugs a hub: the building at a glance and its room say so, and what to do.
async function fail(page, size) {
	sim('aurora', 'o3-sensor', 'unplug');
	await at(page, '/console');
	await page.waitForFunction(() => /Room sensor: offline/.test(document.querySelector('#spaces').textContent), null, { timeout: 60000 });
	await page.waitForFunction(() => /o3-sensor/.test(document.querySelector('#wrong').textContent), null, { timeout: 30000 });
	await pictured(page, size, 'failure', true);
	await at(page, '/console/space?id=' + ROOM);
	await page.waitForFunction(() => /Room sensor\s*offline/.test(document.querySelector('#devices').textContent));
	await pictured(page, size, 'failure-space', true);
	sim('aurora', 'o3-sensor', 'plug');
	await page.waitForFunction(() => !/Room sensor\s*offline/.test(document.querySelector('#devices').textContent), null, { timeout: 60000 });
}

// byMail signs a member in by a code from an e-mail: what he may not, he is not shown.
async function byMail(page, size) {
	await page.goto(base + '/console');
	await page.waitForSelector('#signin', { state: 'visible' });
	const before = sim('letters').length;
	await page.fill('#email', 'member@demo.example');
	await page.click('#by-mail button');
	await page.waitForSelector('#otp', { state: 'visible' });
	let otp = null;
	for (let i = 0; i < 100 && !otp; i++) { await page.waitForTimeout(100); const all = sim('letters'); otp = all.length > before ? /member@demo\.example .* (\d{6})\s*$/.exec(all) : null; }
	await page.fill('#otp', otp[1]);
	await page.click('#by-otp .main');
	await inside(page);
	const nav = await text(page, '#nav');
	if (/Manage/.test(nav) || !/Events/.test(nav) || (await text(page, '#parts')).includes('Outbox')) { wrong('a member is shown', nav); }
	await pictured(page, size, 'member', true);
	await at(page, '/console/space?id=' + ROOM);
	if (await page.$('#control-aurora-light') || !await page.$('#book')) { wrong('a member commands devices, or books nothing'); }
	await page.goto(base + '/console/keys');
	await page.waitForSelector('#none', { state: 'visible' });
	await page.click('#out');
	await page.waitForSelector('#signin', { state: 'visible' });
}

async function prove(page, size) {
	await at(page, '/console/accept?id=' + OTHER);
	await page.click('#find-light');
	await page.waitForFunction(() => /goes on and off/.test(document.querySelector('#toast').textContent), null, { timeout: 20000 });
	await page.fill('#by', 'S. Installer');
	await page.click('#walk form button.main');
	await page.click('#walk form button.main');
	await page.waitForSelector('#stop');
	let asked = 0;
	for (;;) {
		await page.waitForFunction(() => document.querySelector('#answer-yes') || document.querySelector('#save-html'), null, { timeout: 60000 });
		if (await page.$('#save-html')) { break; }
		const question = await text(page, '#ask h2');
		if (asked++ === 0) { await pictured(page, size, 'accept-asks', false); }
		await page.click('#answer-yes');
		await page.waitForFunction((was) => !document.querySelector('#ask h2') || document.querySelector('#ask h2').textContent !== was, question, { timeout: 60000 });
	}
	// Nobody moves in a simulated room, so this one is not accepted.
	const failed = await page.$$eval('#walk tr.bad', (all) => all.map((x) => x.textContent));
	if (asked < 3 || failed.length !== 1 || !/notices somebody who moves/.test(failed[0])) { wrong('after', asked, 'answers these failed:', failed.join('; ')); }
	const [file] = await Promise.all([page.waitForEvent('download'), page.click('#save-html')]);
	const report = fs.readFileSync(await file.path(), 'utf8');
	if (!/S\. Installer/.test(report) || !/\.html$/.test(file.suggestedFilename())) { wrong('the report', file.suggestedFilename(), 'is', report.slice(0, 200)); }
	await pictured(page, size, 'accepted', true);
}

(async () => {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--host-resolver-rules=MAP gateway.test 127.0.0.1:' + PORT] });
	for (const size of Object.keys(sizes)) {
		const context = await browser.newContext({ viewport: sizes[size], reducedMotion: 'reduce', colorScheme: size === 'desk' ? 'light' : 'dark', acceptDownloads: true });
		const page = await context.newPage();
		page.setDefaultTimeout(20000);
		page.on('pageerror', (e) => wrong(size, page.url(), 'error', e.message));
		page.on('console', (m) => { if (m.type() === 'error' && !/status of (401|403|404|409)|ERR_INCOMPLETE_CHUNKED/.test(m.text())) { wrong(size, page.url(), m.text()); } });
		await signIn(page, size);
		await page.waitForFunction(() => /Examined at/.test(document.querySelector('#wrong').textContent), null, { timeout: 60000 });
		await pictured(page, size, 'overview', true);
		await command(page);
		await page.waitForTimeout(500);
		await pictured(page, size, 'space', true);
		await book(page, size);
		await beside(page, size);
		await follow(page, size);
		await pictured(page, size, 'events', true);
		await fail(page, size);
		await prove(page, size);
		if ((await context.cookies()).length) { wrong('there are cookies'); }
		const token = await page.evaluate(() => sessionStorage.getItem('roomgate-console'));
		await page.click('#out');
		await page.waitForSelector('#signin', { state: 'visible' });
		await page.waitForFunction(async (t) => (await fetch('/console/stream/overview', { headers: { Authorization: 'Bearer ' + t } })).status === 401, token, { timeout: 20000 });
		if (await page.evaluate(() => sessionStorage.length)) { wrong('the session stays'); }
		await byMail(page, size);
		// A phone at the door is led to its room.
		await page.evaluate((room) => localStorage.setItem('roomgate-door-' + room, JSON.stringify({ key: 'k', kind: 'phone', meeting_space_id: room })), ROOM);
		await page.goto(base + '/');
		await page.waitForURL(base + '/display/' + ROOM);
		await context.close();
	}
	await browser.close();
	console.log('DONE');
})().catch((e) => { console.log('WRONG ' + e.stack); process.exit(1); });
