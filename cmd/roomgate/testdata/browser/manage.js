// Goes through the pages of the console by which a building is managed, as an admin does:
// with what they make, and what they show once. It prints what is wrong.
'use strict';
const { chromium } = require(process.env.MODULES + '/playwright-core');
const fs = require('fs'), http = require('http');
const axe = fs.readFileSync(process.env.MODULES + '/axe-core/axe.min.js', 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const out = process.env.OUT, room = process.env.ROOM, wrong = (...text) => console.log('WRONG ' + text.join(' '));
let page;

async function open(path) {
	await page.goto('http://gateway.test/console/' + path);
	await page.waitForFunction(() => document.documentElement.dataset.state === 'in');
}
async function look(name) {
	await page.waitForTimeout(50);
	await page.screenshot({ path: out + '/console-' + name + '.png' });
	if (!await page.evaluate(() => Boolean(window.axe))) { await page.evaluate(axe); }
	const found = await page.evaluate((runOnly) => window.axe.run(document, { runOnly, resultTypes: ['violations'] }), rules);
	for (const v of found.violations) { wrong(name, 'axe', v.id, v.nodes.map((n) => n.html.slice(0, 160) + ' ' + (n.any[0] ? n.any[0].message : '')).join(' | ')); }
	const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	if (wide > 0) { wrong(name, 'is too wide by', wide); }
}
const seen = (text, at) => page.waitForFunction(([t, where]) => document.querySelector(where).textContent.includes(t), [text, at || '#parts'], { timeout: 10000 });
const toast = (text) => seen(text, '#toast');
// twice is a button that asks whether one is sure.
async function twice(selector) { await page.click(selector); await page.click(selector); }
// once is what a dialog shows only now; it is nowhere when the page is opened again.
async function once(name, path) {
	await page.waitForSelector('#panel dl code');
	const secret = await page.textContent('#panel dl code');
	await look(name);
	await open(path);
	if (!secret || (await page.content()).includes(secret)) { wrong(name, 'shows its secret again, or none:', secret); }
	return secret;
}

// taken is the file that a page hands out.
async function taken(what) {
	const [file] = await Promise.all([page.waitForEvent('download'), page.click('#take')]);
	if (!file.suggestedFilename().startsWith('roomgate-')) { wrong(what, 'is named', file.suggestedFilename()); }
	return { path: await file.path(), name: file.suggestedFilename() };
}
// sealed wants a backup that its passphrase opens.
async function sealed(file) {
	const word = file.path + '.word';
	fs.writeFileSync(word, 'correct horse battery\n');
	const { status, stderr } = require('child_process').spawnSync('roomgate', ['restore', '--check', file.path, '--passphrase-file', word], { encoding: 'utf8' });
	if (status !== 0 || !/\.backup$/.test(file.name)) { wrong('the backup', file.name, 'is not one:', status, stderr); }
}

(async () => {
	const got = [];
	const hook = http.createServer((r, w) => { r.resume(); got.push(r.headers); w.writeHead(204).end(); });
	await new Promise((go) => hook.listen(0, '127.0.0.1', go));
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--host-resolver-rules=MAP gateway.test 127.0.0.1:' + process.env.PORT] });
	page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', acceptDownloads: true });
	page.on('pageerror', (e) => wrong(page.url(), 'error', e.message));
	page.on('console', (m) => { if (m.type() === 'error' && !/status of 422/.test(m.text())) { wrong(page.url(), m.text()); } });
	await page.goto('http://gateway.test/console' + process.env.CODE);
	await page.waitForFunction(() => document.documentElement.dataset.state === 'in');
	await page.click('#nav a[href="/console/manage"]');
	await seen('Log of changes');
	await look('manage');

	await page.click('#parts a[href="/console/organizations"]');
	await page.fill('#organization-name', 'Acme <3>');
	await page.click('#organization-new .main');
	await toast('Added');
	await seen('Acme <3>');
	if (await page.inputValue('#organization-name')) { wrong('what was added can be added once more by the same button'); }
	await look('organizations');

	await open('keys');
	await page.fill('#key-name', 'cleaning robot');
	await page.click('#key-new .main');
	const key = await once('key-once', 'keys');
	const alive = (k) => fetch('http://127.0.0.1:' + process.env.PORT + '/gateway/keys', { headers: { 'X-API-Key': k } }).then((r) => r.status);
	if (await alive(key) !== 200) { wrong('the key that was shown is not good'); }
	await seen('cleaning robot');
	await look('keys');
	await twice('tr:has-text("cleaning robot") .danger');
	await toast('Revoked');
	if (await alive(key) !== 401) { wrong('a revoked key is good'); }

	await open('users');
	await page.fill('#new-email', 'uma@example.com');
	await page.fill('#new-name', 'Uma');
	await page.click('#user-new .main');
	await seen('uma@example.com');
	await page.click('tr:has-text("uma@example.com") [data-open]');
	await page.selectOption('#panel #user-role', 'operator');
	await look('user-dialog');
	await page.click('#user-change .main');
	await seen('operator', '#list');
	await look('users');

	await open('webhooks');
	await page.fill('#webhook-url', 'http://127.0.0.1:' + hook.address().port + '/rooms');
	await page.selectOption('#webhook-of', await page.evaluate(() => Array.from(document.getElementById('webhook-of').options).find((o) => !/Acme/.test(o.text)).value));
	await page.check('input[value="booking.created"]');
	await page.click('#webhook-new .main');
	await once('webhook-once', 'webhooks');
	await look('webhooks');
	await page.click('#list a');
	await page.waitForSelector('#test');
	await page.click('#test');
	await toast('Test: delivered');
	await seen('204 in');
	const booked = await fetch('http://127.0.0.1:' + process.env.PORT + '/bookings', { method: 'POST', headers: { 'X-API-Key': process.env.KEY, 'Content-Type': 'application/json' }, body: JSON.stringify({ meeting_space_id: room, source: 'walk_up', minutes: 15 }) });
	if (!booked.ok) { wrong('book', booked.status, await booked.text()); }
	await seen('booking.created', '#list tbody');
	await page.waitForSelector('#list tbody button');
	await page.click('#list tbody button');
	await toast('delivered again');
	for (let i = 0; i < 50 && got.length < 3; i++) { await page.waitForTimeout(100); }
	if (got.length < 3 || !got[0]['webhook-signature']) { wrong('the webhook got', got.length, 'deliveries'); }
	await look('deliveries');

	await open('rules');
	await page.click('#rule-new');
	await page.fill('#rule-name', 'Lights off when nobody is there');
	await look('rule-dialog');
	await page.click('#rule-form .main');
	await toast('The rule is on');
	await seen('Lights off when nobody is there');
	await seen('When people come or go, if nobody is there: switch the light off');
	// The usual ones are made without knowing what a program calls them.
	const usual = await page.$$eval('[id^=usual-]', (all) => all.map((x) => x.id));
	for (const id of usual) {
		await page.click('#' + id);
		await page.waitForSelector('#rule-form');
		if (id === 'usual-3') { await page.selectOption('#rule-if', { label: '26 °C' }); await look('rule-usual'); }
		await page.click('#rule-form .main');
		await page.waitForFunction(() => document.getElementById('panel').hidden);
	}
	for (const text of ['At 22:00, if nobody is there', 'if it is warmer than 26 °C: switch the fan on', '5 min before the end of a meeting: show “This meeting']) { await seen(text); }
	await page.click('tr:has-text("At 22:00") [id^=change]');
	await page.fill('#rule-when', '21:30');
	await page.click('#rule-form .main');
	await seen('At 21:30, if nobody is there');
	await page.click('tr:has-text("Lights off when") [id^=explain]');
	await seen('without acting', '#panel');
	await look('rule-explained');
	await page.click('#panel-close');
	await look('rules');

	await open('codes?space=' + room);
	await page.fill('#code-name', 'plumber');
	await page.click('#code-new .main');
	const digits = await once('code-once', 'codes?space=' + room);
	if (!/^\d{6,}$/.test(digits)) { wrong('the code is', digits); }
	await seen('plumber');
	await look('codes');

	await open('displays');
	await page.click('#pair-' + room);
	await page.waitForSelector('#panel .qr svg');
	const code = await once('pairing', 'displays');
	const r = await fetch('http://127.0.0.1:' + process.env.PORT + '/display/' + room + '/pair', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ code, serial: 'test' }) });
	if (r.status !== 201) { wrong('the code of the dialog pairs nothing:', r.status); }
	await seen('page at the door');
	await seen('127.0.0.1');
	await look('displays');
	await twice('#list .danger');
	await seen('None is paired');

	// A backup is sealed, made while nobody looks, and opened by its passphrase alone.
	await open('backup');
	await look('backup');
	if (!await page.isVisible('.plain')) { wrong('the page does not say that it came without TLS'); }
	await page.fill('#backup-word', 'correct horse battery');
	await page.fill('#backup-again', 'correct horse batterx');
	await page.click('#backup-new .main');
	await seen('is not the same', '#backup-new .error');
	await page.fill('#backup-again', 'correct horse battery');
	await page.click('#backup-new .main');
	await toast('It is being made');
	await open('manage');
	await open('backup');
	await page.waitForSelector('#take', { timeout: 60000 });
	await look('backup-ready');
	await sealed(await taken('backup'));
	await seen('The last backup was taken away');
	await page.waitForFunction(() => document.activeElement.id === 'take');
	await twice('#discard');
	await page.waitForSelector('#take', { state: 'detached' });

	// A support bundle is made in a moment here.
	await open('support');
	await page.click('#support-new .main');
	await page.waitForSelector('#take', { timeout: 120000 });
	await look('support-ready');
	const bundle = fs.readFileSync((await taken('support')).path);
	if (bundle[0] !== 0x1f || bundle[1] !== 0x8b || bundle.length < 2000) { wrong('the support bundle has', bundle.length, 'bytes'); }

	await open('update');
	await seen('A demo takes no updates');
	await look('update-demo');

	await open('changes');
	for (const kind of ['Backup begun', 'Backup downloaded', 'Support bundle downloaded']) { await seen(kind); }
	await seen('API key revoked');
	await seen('Edge deleted');
	await look('changes');
	await page.setViewportSize({ width: 390, height: 844 });
	for (const name of ['manage', 'users', 'webhooks', 'rules', 'displays', 'changes', 'backup', 'update']) { await open(name); await seen('', '#parts'); await look('phone-' + name); }
	await browser.close();
	hook.close();
	console.log('DONE');
})().catch(async (e) => {
	console.log('WRONG ' + e.stack);
	await page.screenshot({ path: out + '/console-failed.png' });
	process.exit(1);
});
