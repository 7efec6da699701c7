// Follows fifty thousand frames, and looks whether the page needs more memory at the end
// than one that has just been opened.
'use strict';
const { chromium } = require(process.env.MODULES + '/playwright-core');

(async () => {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--host-resolver-rules=MAP gateway.test 127.0.0.1:' + process.env.PORT] });
	const used = async (room, ready) => {
		const page = await browser.newPage(), cdp = await page.context().newCDPSession(page);
		await page.goto('http://gateway.test/display/' + room + '#code=GOOD');
		await page.waitForFunction(ready, null, { timeout: 240000 });
		let all = {}, before = Infinity;
		for (let i = 0; i < 20 && !(all.nodes < 1500 && all.heap > before * 0.99); i++) { // what one round lets go, a later one finds: until it falls no more
			before = all.heap || Infinity;
			await page.waitForTimeout(500);
			await cdp.send('HeapProfiler.collectGarbage');
			all = { heap: (await cdp.send('Runtime.getHeapUsage')).usedSize, nodes: (await cdp.send('Memory.getDOMCounters')).nodes };
		}
		await page.close();
		return all;
	};
	const fresh = await used('free', () => document.documentElement.dataset.state === 'free');
	const old = await used('flicker', () => /frame 50000$/.test(document.querySelector('#top h1').textContent));
	console.log('NOTE heap ' + fresh.heap + ' when fresh, ' + old.heap + ' bytes after fifty thousand frames; nodes ' + fresh.nodes + ' and ' + old.nodes);
	if (old.heap > fresh.heap + 6000000 /* 120 bytes for a frame: what the browser keeps of its own comes and goes by 4 MB */ || old.nodes > fresh.nodes * 2 + 500) { console.log('WRONG the page grows: ' + JSON.stringify([fresh, old])); }
	await browser.close();
	console.log('DONE fifty thousand frames');
})().catch((e) => { console.log('WRONG ' + e.stack); process.exit(1); });
