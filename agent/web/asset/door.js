// The page at a door: pairing, the beat of a display and what it is ordered to do.
(function () {
	var P = Page, doc = document, root = doc.documentElement, space = doc.body.getAttribute('data-space');
	var slot = 'roomgate-door-' + space, kind = '', done = [], seen = {}, began = P.now(), bright = 100, dark = false, wake = 0, beating = false, beats = 0, loading = false;
	P.base = '/display/' + space;

	// Without storage the key lasts as long as the page.
	function keep(name, value) { try { if (value === null) { localStorage.removeItem(name); } else { localStorage.setItem(name, value); } } catch (e) { return; } }
	function kept(name) { try { return localStorage.getItem(name) || ''; } catch (e) { return ''; } }
	function copy(id) { return doc.importNode(P.el(id).content, true); }

	P.on.head = function (head) {
		root.setAttribute('data-state', head.state);
		root.setAttribute('data-theme', head.theme);
		doc.title = head.title;
		if (head.build !== doc.body.getAttribute('data-build') && !loading) { loading = true; reload(); }
	};

	// The state is written as large as its column and its row let it: the lines below the word up to twice as large as
	// the stylesheet says, then the word.
	function fit() {
		var at = P.el('status'), says = P.el('message-text'), lines = at.querySelectorAll('.word,.until,.left'), row, all;
		for (var k = 1.45; k > 1 && (k === 1.45 || says.scrollHeight > says.clientHeight); k -= 0.05) { says.style.fontSize = k + 'rem'; } // all of a message can be read
		if (!lines.length || doc.body.className) { return; }
		all = Array.prototype.map.call(lines, function (x) {
			x.style.whiteSpace = x.style.fontSize = '';
			return { x: x, base: parseFloat(getComputedStyle(x).fontSize) };
		});
		row = at.getBoundingClientRect().height + 0.01;
		all.forEach(function (l) {
			var range = doc.createRange();
			l.x.style.whiteSpace = 'nowrap';
			range.selectNodeContents(l.x);
			l.wide = l.base * (at.clientWidth - 4) / range.getBoundingClientRect().width;
			if (l.x !== lines[0] && l.wide < l.base * 1.5) { l.wide *= 1.8; } // it may have two rows
			l.x.style.whiteSpace = '';
		});
		function grow(some, most) {
			for (k = most; k >= 1; k -= 0.1) {
				some.forEach(function (l) { l.x.style.fontSize = Math.max(l.base, Math.min(l.wide, l.base * k)) + 'px'; });
				if (at.getBoundingClientRect().height <= row) { return; }
			}
			some.forEach(function (l) { l.x.style.fontSize = ''; });
		}
		grow(all.slice(1), 2);
		grow(all.slice(0, 1), 2.6);
	}
	var due = 0;
	P.on.shown = function () { due = due || requestAnimationFrame(function () { due = 0; fit(); }); };
	window.addEventListener('resize', fit);

	P.on.refused = function (status) {
		if (status === 404) { reload(); return; }
		var was = kind;
		keep(slot, null);
		P.end();
		P.key = kind = '';
		if (was === 'phone') { ask('phone-over'); } else { ask('pair', 'revoked'); }
	};

	P.on.failed = function () { P.show(P.el('failed').innerHTML, ''); };

	// ask shows the claim field, or that there is nothing to be done here any more.
	function ask(what, first) {
		var panel = P.el('panel');
		root.removeAttribute('data-lost');
		root.setAttribute('data-state', 'wait');
		doc.body.className = 'pairing';
		panel.innerHTML = '';
		panel.appendChild(copy(what));
		panel.hidden = false;
		if (first) { panel.firstElementChild.insertBefore(copy(first), panel.firstElementChild.firstChild); }
		if (P.el('code')) { P.el('code').focus(); }
	}

	function paired(text) {
		var got = JSON.parse(text);
		had = '';
		P.key = got.key;
		kind = got.kind;
		root.setAttribute('data-kind', kind);
		keep('roomgate-door-' + got.meeting_space_id, text);
		if (got.meeting_space_id !== space) { location.href = '/display/' + got.meeting_space_id; return; }
		doc.body.className = '';
		P.el('panel').hidden = true;
		P.el('panel').innerHTML = '';
		P.start();
		clearInterval(beats);
		beats = setInterval(beat, 1000 * (got.heartbeat_s || 5));
		beat();
	}

	// pair asks for a key by a code. The key that the page has is good until then, and after a code that is refused.
	async function pair(code) {
		var serial = kept('roomgate-serial') || 'page-' + Math.random().toString(36).slice(2) + Math.random().toString(36).slice(2);
		keep('roomgate-serial', serial);
		try {
			var r = await P.ask('POST', P.base + '/pair', JSON.stringify({ code: code, serial: serial })), text = await r.text();
			if (r.ok) { paired(text); return; }
			if (had) { paired(had); return; }
			if (!P.el('pair-error')) { ask('pair'); }
			P.el('pair-error').innerHTML = /html/.test(r.headers.get('Content-Type')) ? text : copy('failed').querySelector('h2').innerHTML;
		} catch (e) { root.setAttribute('data-lost', ''); setTimeout(function () { pair(code); }, 3000); }
	}

	P.on.submit = function (form, body) {
		if (form.id !== 'pair-form') { return false; }
		P.el('pair-error').textContent = '';
		pair(body.code);
		return true;
	};

	// What a display is ordered to do. Each order is answered with the next beat.
	var orders = {
		on: function () { dim(bright, false); },
		off: function () { dim(bright, true); },
		brightness: function (text) { dim(Number(text), dark); },
		message: function (text) { say(text); },
		refresh: function () { setTimeout(reload, 300); },
		screenshot: shoot
	};

	function dim(percent, off) {
		var over = P.el('dark');
		bright = percent;
		dark = off;
		keep('roomgate-bright', String(percent));
		if (window.fully && window.fully.setScreenBrightness && !off) { window.fully.setScreenBrightness(Math.round(percent * 2.55)); percent = 100; }
		over.className = off ? 'off' : '';
		over.hidden = !off && percent >= 100;
		over.style.opacity = off ? 1 : (100 - percent) * 0.009;
	}

	var saying = 0;
	function say(text) {
		clearTimeout(saying);
		P.el('message-text').textContent = text;
		P.el('message').hidden = !text;
		root[text ? 'setAttribute' : 'removeAttribute']('data-says', '');
		fit();
		if (text) { P.close(); P.el('message-close').focus(); saying = setTimeout(function () { say(''); }, 600000); }
	}
	P.el('message-close').addEventListener('click', function () { say(''); });
	P.el('dark').addEventListener('click', function () { dim(bright, false); wake = P.now(); });

	// The loaded page is all there is, so it is given up only for one that is there.
	async function reload() {
		try { if ((await fetch('/readyz', { cache: 'no-store' })).ok) { location.reload(); } } catch (e) { root.setAttribute('data-lost', ''); }
	}

	// The picture is the page's own account of itself: its elements, drawn once more.
	async function shoot(text, id) {
		var w = window.innerWidth, h = window.innerHeight, page = root.cloneNode(true), css = '';
		Array.prototype.forEach.call(page.querySelectorAll('script,link,template'), function (x) { x.parentNode.removeChild(x); });
		Array.prototype.forEach.call(doc.styleSheets[0].cssRules, function (rule) { css += rule.cssText; });
		var style = doc.createElement('style');
		style.textContent = css.replace(/100vh/g, h + 'px').replace(/([\d.]+)vmin/g, function (all, n) { return n * Math.min(w, h) / 100 + 'px'; });
		page.querySelector('head').appendChild(style);
		var svg = '<svg xmlns="http://www.w3.org/2000/svg" width="' + w + '" height="' + h + '"><foreignObject width="100%" height="100%">' + new XMLSerializer().serializeToString(page) + '</foreignObject></svg>';
		var picture = new Image();
		await new Promise(function (go, fail) { picture.onload = go; picture.onerror = fail; picture.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svg); });
		var canvas = doc.createElement('canvas');
		canvas.width = w;
		canvas.height = h;
		canvas.getContext('2d').drawImage(picture, 0, 0);
		var blob = await new Promise(function (go) { canvas.toBlob(go, 'image/png'); });
		var r = await P.ask('POST', '/meetingspace/' + space + '/screenshot?order=' + id, blob, { 'Content-Type': 'image/png' });
		if (!r.ok) { throw new Error('the picture was refused: ' + r.status); }
	}

	async function obey(order) {
		if (seen[order.id]) { return; }
		seen[order.id] = true;
		var answer = { id: order.id };
		try {
			if (!orders[order.action]) { throw new Error('the page does not know ' + order.action); }
			await orders[order.action](order.text || '', order.id);
		} catch (e) { answer.error = String(e && e.message || 'it failed'); }
		if (order.action !== 'screenshot' || answer.error) { done.push(answer); }
	}

	async function beat() {
		if (kind !== 'display' || beating) { return; }
		beating = true;
		var sent = done.splice(0, 60);
		try {
			var r = await P.ask('POST', '/edge/heartbeat', JSON.stringify({ uptime_s: Math.round((P.now() - began) / 1000), version: 'page', done: sent }));
			if (r.status === 401) { P.on.refused(401); }
			if (!r.ok) { throw new Error('status ' + r.status); }
			await Promise.all((await r.json()).orders.map(obey));
		} catch (e) { done = sent.concat(done); }
		beating = false;
		if (done.length && kind) { setTimeout(beat, 50); }
	}

	// Nothing burns in: the page wanders by a few pixels, one at a time.
	var drift = 0;
	setInterval(function () {
		drift = (drift + 1) % 32;
		var at = drift < 16 ? drift - 8 : 24 - drift;
		P.el('page').style.transform = 'translate(' + at / 2 + 'px,' + (drift % 8 < 4 ? drift % 4 : 4 - drift % 4) + 'px)';
		if (dark && wake && P.now() - wake > 60000) { wake = 0; dim(bright, true); }
	}, 15000);

	var code = P.code(), had = kept(slot);
	if (kept('roomgate-bright')) { dim(Number(kept('roomgate-bright')), false); }
	window.addEventListener('hashchange', function () { location.reload(); });
	if (code) { pair(code); } else if (had) { paired(had); } else { ask('pair'); }
})();
