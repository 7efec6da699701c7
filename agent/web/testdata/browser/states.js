// Opens every state of the door page once, as http://gateway.test, and looks at it in
// every size: it keeps a picture of each, and has axe look at one or two. It prints what is wrong, one line each.
'use strict';
const { chromium } = require(process.env.MODULES + '/playwright-core');
const fs = require('fs');
const axe = fs.readFileSync(process.env.MODULES + '/axe-core/axe.min.js', 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const sizes = { landscape7: [800, 480], landscape8: [1024, 600], landscape10: [1280, 800], landscape15: [1920, 1080], portrait7: [480, 800], portrait10: [800, 1280], phone: [390, 844] };
const onPhone = /^(free|reserved|checkin|busy|ending|disabled|untrusted|cloud-away|full-day|unpaired)$|\+/; // the others have the same regions, in other colours or words
const only = (process.env.SIZES || Object.keys(sizes).join(' ')).split(' ');
const out = process.env.OUT, states = process.env.STATES.split(' '), left = states.slice();
const wrong = (...text) => console.log('WRONG ' + text.join(' '));

async function open(page, state) {
	const [name, panel, button] = state.split('+');
	await page.goto('http://gateway.test/display/' + name + '#code=GOOD');
	await page.waitForFunction(() => document.documentElement.dataset.state !== 'wait' || document.body.className === 'pairing');
	if (name === 'revoked' || name === 'wrong-code') {
		await page.waitForSelector(name === 'revoked' ? '.pair>.warn' : '#pair-error:not(:empty)');
	}
	if (panel === 'lost') {
		await page.evaluate(() => { document.documentElement.setAttribute('data-lost', ''); document.getElementById('age').textContent = ' for 1 h 12 min'; });
	} else if (panel === 'message') {
		await page.waitForSelector('#message-close');
		await page.click('#act-why', { trial: true, timeout: 5000 }); // it leaves the buttons to people
	} else if (panel) {
		await page.click('#act-' + panel);
		await page.waitForSelector('#panel .sheet');
		if (panel === 'why') { await page.waitForFunction(() => document.querySelector('#panel .small [data-ago]').textContent === '2 s', null, { timeout: 5000 }); } // an age goes on
	}
	if (button) {
		await page.click('#' + button);
		await page.waitForSelector('#later-back');
	}
}

async function look(page, cdp, state, size) {
	await page.setViewportSize({ width: sizes[size][0], height: sizes[size][1] });
	await page.evaluate(() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))); // it has fitted its words to the size
	const fit = await page.evaluate(() => new Promise((go) => requestAnimationFrame(() => go({
		wide: document.documentElement.scrollWidth - innerWidth, high: document.documentElement.scrollHeight - innerHeight,
		cut: Array.from(document.querySelectorAll('button')).filter((b) => {
			const text = document.createRange(), box = b.getBoundingClientRect();
			text.selectNodeContents(b);
			const t = text.getBoundingClientRect();
			return b.offsetParent && (b.scrollWidth > b.clientWidth || b.scrollHeight > b.clientHeight || t.left < box.left + 5 || t.right > box.right - 5);
		}).map((b) => b.id + ' ' + b.textContent),
		faint: innerWidth === 800 && innerHeight === 480 && !document.querySelector('.pairing,[data-says]') ? Array.from(document.querySelectorAll('.until,.left')).map((x) => x.textContent + ' ' + Math.round(parseFloat(getComputedStyle(x).fontSize))).filter((x) => Number(x.split(' ').pop()) < 36).join(', ') : '',
		named: document.querySelector('#panel:not([hidden])') && !document.querySelector('#panel #panel-title') ? 'has no name' : '',
		says: document.querySelector('[data-says]') ? (({ scrollHeight, clientHeight }, day) => (scrollHeight > clientHeight ? 'its end is not seen' : '') + (innerHeight > 700 && innerWidth > 560 && !day.offsetHeight ? ' the day is not seen' : ''))(document.getElementById('message-text'), document.getElementById('day')) : '',
		small: Array.from(document.querySelectorAll('button,input')).filter((b) => b.offsetParent && (b.offsetHeight < 63.5 || b.offsetWidth < 63.5)).map((b) => b.id + ' ' + b.offsetWidth + 'x' + b.offsetHeight) }))));
	if (fit.wide > 0) { wrong(size, state, 'is too wide by', fit.wide); }
	if (fit.high > 0 && size !== 'phone') { wrong(size, state, 'is too high by', fit.high); }
	if (fit.cut.length) { wrong(size, state, 'text leaves its button', fit.cut.join(', ')); }
	if (fit.faint) { wrong(size, state, 'cannot be read from far:', fit.faint); }
	if (fit.named) { wrong(size, state, 'the dialog', fit.named); }
	if (fit.says) { wrong(size, state, 'shows a message:', fit.says); }
	if (fit.small.length) { wrong(size, state, 'small targets', fit.small.join(', ')); }
	const shot = await cdp.send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true });
	fs.writeFileSync(out + '/' + size + '-' + state.split('+').join('-') + '.png', Buffer.from(shot.data, 'base64'));
	if (size !== 'landscape10' && !(size === 'phone' && onPhone.test(state))) { return; }
	if (!await page.evaluate(() => Boolean(window.axe))) { await page.evaluate(axe); }
	const found = await page.evaluate((runOnly) => window.axe.run(document, { runOnly, resultTypes: ['violations'] }), rules);
	for (const v of found.violations) { wrong(size, state, 'axe', v.id, v.nodes.map((n) => n.html.slice(0, 120) + ' ' + (n.any[0] ? n.any[0].message : '')).join(' | ')); }
}

async function work(browser) {
	const context = await browser.newContext({ hasTouch: true, reducedMotion: 'reduce' });
	const page = await context.newPage(), cdp = await context.newCDPSession(page);
	page.on('pageerror', (e) => wrong(page.url(), 'error', e.message));
	page.on('console', (m) => { if (m.type() === 'error' && !/status of 40[13]/.test(m.text())) { wrong(page.url(), m.text()); } });
	for (let state; (state = left.shift());) {
		await open(page, state);
		for (const size of only) { await look(page, cdp, state, size); }
	}
	await context.close();
}

(async () => {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--host-resolver-rules=MAP gateway.test 127.0.0.1:' + process.env.PORT] });
	await Promise.all([work(browser), work(browser)]);
	await browser.close();
	console.log('DONE ' + states.length + ' states in ' + only.length + ' sizes');
})().catch((e) => { console.log('WRONG ' + e.stack); process.exit(1); });
