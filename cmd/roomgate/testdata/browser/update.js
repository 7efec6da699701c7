// Brings a gateway a release from the console: one that is refused, and one that it starts
// again with, under the open page. It prints what is wrong.
'use strict';
const { chromium } = require(process.env.MODULES + '/playwright-core');
const fs = require('fs');
const axe = fs.readFileSync(process.env.MODULES + '/axe-core/axe.min.js', 'utf8');
const wrong = (...text) => console.log('WRONG ' + text.join(' '));
let page;

// look takes a picture and judges it. A new version loads the page once more, which may be just now.
async function look(name) {
	try {
		await judge(name);
	} catch (e) {
		if (!/context was destroyed/.test(e.message)) { throw e; }
		await page.waitForFunction(() => document.documentElement.dataset.state === 'in');
		await judge(name);
	}
}

async function judge(name) {
	await page.screenshot({ path: process.env.OUT + '/console-' + name + '.png' });
	await page.evaluate(axe);
	const found = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'] }));
	for (const v of found.violations) { wrong(name, 'axe', v.id, v.nodes.map((n) => n.html.slice(0, 160)).join(' | ')); }
}
const seen = (text, at) => page.waitForFunction(([t, where]) => document.querySelector(where) && document.querySelector(where).textContent.includes(t), [text, at || '#now'], { timeout: 60000 });

(async () => {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--host-resolver-rules=MAP gateway.test 127.0.0.1:' + process.env.PORT] });
	page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
	page.on('pageerror', (e) => wrong(page.url(), 'error', e.message));
	await page.goto('http://gateway.test/console' + process.env.CODE);
	await page.waitForFunction(() => document.documentElement.dataset.state === 'in');
	await page.goto('http://gateway.test/console/update');
	await seen('1.0.0 runs, which the package installed.');
	await look('update');
	await page.setInputFiles('#bundle', process.env.OTHER);
	await page.click('#update-new .main');
	await page.waitForFunction(() => document.querySelector('#update-new .error').textContent.length > 20 && !document.querySelector('#update-new .main').disabled);
	console.log('refused: ' + await page.textContent('#update-new .error'));
	await seen('The last bundle was not taken');
	await look('update-refused');
	await page.setInputFiles('#bundle', process.env.BUNDLE);
	await page.click('#update-new .main');
	await seen('Installed', '#toast');
	await seen('meeting');
	await look('update-waits');
	await page.click('#try');
	await page.click('#try');
	await seen('1.1.0 is on trial');
	await look('update-trial');
	await page.waitForFunction(() => /1\.1\.0 runs\./.test(document.querySelector('#now').textContent) && !/on trial/.test(document.querySelector('#now').textContent), null, { timeout: 60000 });
	if (await page.evaluate(() => document.documentElement.hasAttribute('data-lost') || document.documentElement.dataset.state !== 'in')) { wrong('the page does not find the gateway again'); }
	await look('update-done');
	await page.goto('http://gateway.test/console/changes');
	await seen('Update brought', '#list');
	await browser.close();
	console.log('DONE');
})().catch(async (e) => {
	console.log('WRONG ' + e.stack);
	await page.screenshot({ path: process.env.OUT + '/console-failed.png' });
	process.exit(1);
});
