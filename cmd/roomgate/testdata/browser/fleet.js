// The page of a fleet: a wrong key, the right one, a claim, and what comes. It prints what
// is wrong.
'use strict';
const { chromium } = require(process.env.MODULES + '/playwright-core');
const fs = require('fs');
const axe = fs.readFileSync(process.env.MODULES + '/axe-core/axe.min.js', 'utf8');
const wrong = (...text) => console.log('WRONG ' + text.join(' '));

(async () => {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
	const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
	page.on('pageerror', (e) => wrong('error', e.message));
	const seen = (text, at) => page.waitForFunction(([t, where]) => document.querySelector(where).textContent.includes(t), [text, at], { timeout: 60000 });
	const look = async (name) => {
		await page.screenshot({ path: process.env.OUT + '/fleet-' + name + '.png' });
		await page.evaluate(axe);
		const found = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'] }));
		for (const v of found.violations) { wrong(name, 'axe', v.id, v.nodes.map((n) => n.html.slice(0, 160)).join(' | ')); }
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
	await page.fill('#claim [name=gateway_id]', 'demo');
	await page.fill('#claim [name=code]', process.env.CODE);
	await page.fill('#claim [name=organization]', 'Landlord');
	await page.click('#claim button');
	await seen('done', '#claims');
	await seen('roomgate.receipt', '#rows');
	await look('fleet');
	console.log('DONE');
	await browser.close();
})().catch((e) => { wrong(e.stack); process.exit(1); });
