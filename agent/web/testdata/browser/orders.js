// Sees a page go dark, bright, and as bright as it is told. It prints what is wrong.
'use strict';
const { chromium } = require(process.env.MODULES + '/playwright-core');

(async () => {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--host-resolver-rules=MAP gateway.test 127.0.0.1:' + process.env.PORT] });
	const page = await browser.newPage();
	page.on('pageerror', (e) => console.log('WRONG error ' + e.message));
	await page.addInitScript(() => {
		window.darkness = [];
		document.addEventListener('DOMContentLoaded', () => {
			const dark = document.getElementById('dark');
			new MutationObserver(() => { const now = dark.hidden ? 'bright' : (dark.className || 'dim') + ' ' + Number(dark.style.opacity).toFixed(2); if (window.darkness[window.darkness.length - 1] !== now) { window.darkness.push(now); } }).observe(dark, { attributes: true });
		});
	});
	await page.goto('http://gateway.test/display/ordered#code=GOOD');
	const want = 'off 1.00, bright, dim 0.54';
	await page.waitForFunction((all) => window.darkness.join(', ').startsWith(all), want, { timeout: 20000 }).catch(() => undefined);
	const got = (await page.evaluate(() => window.darkness)).join(', ');
	if (got !== want) { console.log('WRONG it was ' + got + ', want ' + want); }
	await browser.close();
	console.log('DONE orders');
})().catch((e) => { console.log('WRONG ' + e.stack); process.exit(1); });
