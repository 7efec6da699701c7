// A page at a door, on a tablet whose clock is a day behind, while the gateway is killed
// and starts again, and while the network swallows everything for an hour. The hour is
// that of the page: its timers are moved on, its requests are real. It prints what is wrong.
'use strict';
const { chromium } = require(process.env.MODULES + '/playwright-core');
const { spawn } = require('child_process');
const net = require('net');
const room = process.env.ROOM, wrong = (...text) => console.log('WRONG ' + text.join(' '));
const pause = (ms) => new Promise((go) => setTimeout(go, ms));
const state = (page, want) => page.waitForFunction((s) => document.documentElement.dataset.state === s && !document.documentElement.hasAttribute('data-lost'), want, { timeout: 60000, polling: 100 });

// The gateway, which keeps its data over a start.
let gateway, port;
function start() {
	return new Promise((go, fail) => {
		let said = '';
		gateway = spawn('roomgate', ['demo', '--config', process.env.CONFIG, '--data', process.env.DATA, '--listen', '127.0.0.1:0', '--broker', '127.0.0.1:0', '--cloud-listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'ignore'] });
		gateway.on('exit', () => fail(new Error('the gateway ended: ' + said)));
		gateway.stdout.on('data', (some) => {
			said += some;
			const at = /http listening on .*:(\d+)/.exec(said);
			if (/\nready\n/.test(said) && at) { port = Number(at[1]); go(said); }
		});
	});
}

// The network between them. While it is cut it takes what comes, and says nothing; what
// was open then stays so, and is dead.
let cut = false;
const sockets = new Set();
const network = net.createServer((near) => {
	sockets.add(near);
	near.on('error', () => near.destroy());
	near.on('close', () => sockets.delete(near));
	if (cut) { near.pause(); return; }
	const far = net.connect(port, '127.0.0.1');
	far.on('error', () => near.destroy());
	far.on('close', () => near.destroyed || near.dead || near.destroy());
	near.on('close', () => far.destroy());
	near.on('data', (some) => near.dead || far.write(some));
	far.on('data', (some) => near.dead || near.write(some));
});

(async () => {
	const said = await start();
	await new Promise((go) => network.listen(0, '127.0.0.1', go));
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--host-resolver-rules=MAP gateway.test 127.0.0.1:' + network.address().port] });
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
	page.on('pageerror', (e) => wrong('error', e.message));
	await page.clock.install({ time: Date.now() - 24 * 3600 * 1000 });
	await page.goto('http://gateway.test/display/' + room + new RegExp('/display/' + room + '(#code=\\S+)').exec(said)[1]);
	await state(page, 'free');
	const day = new Intl.DateTimeFormat('en', { day: 'numeric', timeZone: 'Europe/Berlin' }).format(new Date()), shown = await page.textContent('.clock');
	const api = async (method, path, body) => { const r = await fetch('http://127.0.0.1:' + port + path, { method, headers: { 'X-API-Key': process.env.KEY, 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) }); if (!r.ok) { wrong(path, r.status, await r.text()); } return r.json(); };
	if (!shown.includes(' ' + day + ' ')) { wrong('it is the', day, 'and the page shows', shown); }
	await page.evaluate(() => { window.same = true; });

	gateway.removeAllListeners('exit');
	gateway.kill('SIGKILL');
	await page.waitForFunction(() => document.documentElement.hasAttribute('data-lost'), null, { timeout: 30000, polling: 100 });
	await start();
	const back = Date.now();
	await state(page, 'free');
	console.log('found again ' + ((Date.now() - back) / 1000).toFixed(1) + ' s after a start');

	cut = true;
	for (const s of sockets) { s.dead = true; s.pause(); }
	const lostNow = () => page.evaluate(() => document.documentElement.hasAttribute('data-lost'));
	await page.clock.runFor(25000);
	if (await lostNow()) { wrong('the page gives up a gateway that was silent for 25 s'); }
	await page.clock.runFor(30000);
	if (!await lostNow()) { wrong('the page does not notice a silence of 55 s'); }
	const wandered = new Set();
	for (let i = 0; i < 355; i++) {
		await page.clock.runFor(10000);
		wandered.add(await page.evaluate(() => document.getElementById('page').style.transform));
		if (i % 4 === 0) { await pause(5); } // for what is real
	}
	// Nothing burns in: the page wanders, by less than nine pixels.
	const pixels = Array.from(wandered).map((t) => t.match(/-?[\d.]+(?=px)/g).map(Number));
	if (pixels.length < 12 || pixels.some((p) => p.some((n) => Math.abs(n) > 8))) { wrong('the page wanders', JSON.stringify(pixels)); }
	const lost = await page.evaluate(() => ({ lost: document.documentElement.hasAttribute('data-lost'), text: document.getElementById('lost').textContent, clock: getComputedStyle(document.querySelector('.clock')).visibility, acts: getComputedStyle(document.getElementById('acts')).display }));
	console.log('after an hour: ' + lost.text);
	if (!lost.lost || !/ for (59 min|1 h 0 min)\. What you see is as of \d/.test(lost.text)) { wrong('after an hour the page says', JSON.stringify(lost)); }
	if (lost.clock !== 'hidden' || lost.acts !== 'none') { wrong('a lost page shows a time or buttons', JSON.stringify(lost)); }
	await page.screenshot({ path: process.env.OUT + '/real-hour.png' });

	await api('POST', '/bookings', { meeting_space_id: room, source: 'walk_up', minutes: 30 });
	cut = false;
	const healed = Date.now();
	for (let i = 0; i < 90 && await page.evaluate(() => document.documentElement.hasAttribute('data-lost')); i++) { await page.clock.runFor(1000); await pause(20); }
	await state(page, 'busy');
	console.log('the network back: found within ' + (Date.now() - healed) + ' ms');
	let seen = await api('GET', '/gateway/edge');
	for (let i = 0; i < 30 && !seen.edge_devices[0].address; i++) { await page.clock.runFor(1000); await pause(20); seen = await api('GET', '/gateway/edge'); } // until its next beat
	if (seen.edge_devices.length !== 1 || seen.edge_devices[0].address !== '127.0.0.1') { wrong('the gateway lists', JSON.stringify(seen)); }
	if (!await page.evaluate(() => window.same)) { wrong('the page was loaded again'); }
	await browser.close();
	console.log('DONE');
	gateway.removeAllListeners('exit');
	gateway.once('exit', () => process.exit(0));
	gateway.kill('SIGINT');
})().catch((e) => {
	console.log('WRONG ' + e.stack);
	gateway.removeAllListeners('exit');
	gateway.kill('SIGKILL');
	process.exit(1);
});
