// Adds a meeting space and its devices from the console, as an admin does who stands in
// the room, by the keyboard alone where there is a form. It prints what is wrong.
'use strict';
const { chromium } = require(process.env.MODULES + '/playwright-core');
const fs = require('fs');
const axe = fs.readFileSync(process.env.MODULES + '/axe-core/axe.min.js', 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const out = process.env.OUT, wrong = (...text) => console.log('WRONG ' + text.join(' '));
let page;

async function look(name) {
	await page.waitForTimeout(50);
	await page.screenshot({ path: out + '/console-' + name + '.png', fullPage: true });
	if (!await page.evaluate(() => Boolean(window.axe))) { await page.evaluate(axe); }
	const found = await page.evaluate((runOnly) => window.axe.run(document, { runOnly, resultTypes: ['violations'] }), rules);
	for (const v of found.violations) { wrong(name, 'axe', v.id, v.nodes.map((n) => n.html.slice(0, 160) + ' ' + (n.any[0] ? n.any[0].message : '')).join(' | ')); }
	const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	if (wide > 0) { wrong(name, 'is too wide by', wide); }
}
const seen = (text, at) => page.waitForFunction(([t, where]) => document.querySelector(where).textContent.includes(t), [text, at || '#parts'], { timeout: 20000 });
async function twice(selector) { await page.click(selector); await page.click(selector); }
// type fills the fields of a form by the keyboard, one after the other, and sends it.
async function type(first, ...texts) {
	await page.focus(first);
	for (const text of texts) {
		await page.keyboard.press('Control+A');
		await page.keyboard.type(text);
		await page.keyboard.press('Tab');
	}
	await page.keyboard.press('Enter');
}
const refused = seen; // a browser says of each refusal that it is one
async function dialog(room, way) {
	await page.click('.room:has-text("' + room + '") [id^=add-]');
	await page.waitForSelector('#way-' + way);
	if (room === 'Delta' && way === 'light-zigbee2mqtt') { await look('setup-ways'); }
	await page.click('#way-' + way);
	await page.waitForSelector('#device-form');
}

(async () => {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--host-resolver-rules=MAP gateway.test 127.0.0.1:' + process.env.PORT] });
	page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
	page.on('pageerror', (e) => wrong(page.url(), 'error', e.message));
	page.on('console', (m) => { if (m.type() === 'error' && !/409|422/.test(m.text())) { wrong(page.url(), m.text()); } });
	await page.goto('http://gateway.test/console' + process.env.CODE);
	await page.waitForFunction(() => document.documentElement.dataset.state === 'in');
	await page.click('#nav a[href="/console/manage"]');
	await page.click('#parts a[href="/console/setup"]');
	await page.waitForSelector('#space-new');

	await type('#space-name', 'Delta', 'Europe/Rom');
	await refused('want an IANA name', '#space-new .error');
	await type('#space-name', 'Delta', 'Europe/Rome');
	await seen('Give it its devices', '#toast');
	await seen('Delta', '#spaces');
	await type('#space-name', 'delta', 'Europe/Rome');
	await refused('another meeting space', '#space-new .error');

	await dialog('Delta', 'light-zigbee2mqtt');
	await look('setup-form');
	await type('#ask-topic', 'zigbee2mqtt/delta-light');
	await seen('The password is shown only now', '#panel');
	const password = await page.evaluate(() => Array.from(document.querySelectorAll('#panel dd code')).slice(-2)[0].textContent);
	await look('setup-added');
	await page.keyboard.press('Escape');
	await seen('light-zigbee2mqtt');
	if ((await page.content()).includes(password)) { wrong('the page shows the password again'); }

	await dialog('Delta', 'fan-pwm');
	await type('#ask-channel', 'pwm1', '');
	await refused('want chip and number, as pwmchip0/0', '#device-form .error');
	await type('#ask-channel', 'pwmchip7/0', '');
	await seen('prove the room', '#panel');
	await page.click('#panel-close');
	await dialog('Delta', 'lock-relay');
	await page.fill('#ask-relay', '17');
	await page.press('#ask-relay', 'Enter');
	await refused('want GPIO17', '#device-form .error');
	await page.fill('#ask-relay', 'GPIO77');
	await page.fill('#ask-sense', 'GPIO77');
	await page.press('#ask-relay', 'Enter');
	await refused('named twice', '#device-form .error');
	await page.fill('#ask-sense', '');
	await page.press('#ask-relay', 'Enter');
	await seen('prove the room', '#panel');
	await page.click('#panel-close');
	await dialog('Delta', 'o3-parts');
	await type('#ask-chip', 'i2c-1/0x49/tmp102', 'GPIO81', 'GPIO82', 'spidev7.0');
	await seen('prove the room', '#panel');
	await page.click('#panel-close');
	await dialog('Delta', 'display-page');
	await page.click('#device-form .main');
	await page.waitForSelector('#next-pair');
	await page.click('#panel-close');
	await seen('display-page');
	await page.setViewportSize({ width: 390, height: 800 });
	await look('setup-phone');
	await page.setViewportSize({ width: 1280, height: 800 });
	await look('setup');

	await twice('.room:has-text("Delta") tr:has-text("Fan") .danger');
	await seen('Removed', '#toast');
	await page.waitForFunction(() => !Array.from(document.querySelectorAll('.room')).pop().textContent.includes('fan-pwm'));
	await twice('.room:has-text("Delta") > .acts .danger');
	await page.waitForFunction(() => document.querySelector('#spaces') && !document.querySelector('#spaces').textContent.includes('Delta'));
	await browser.close();
	console.log('DONE');
})().catch(async (e) => {
	console.log('WRONG ' + e.stack);
	await page.screenshot({ path: out + '/console-failed.png' });
	process.exit(1);
});
