// What every page of the gateway does: it follows one stream of regions that the
// gateway has rendered, swaps them in, and posts what buttons and forms say. ES2017,
// as panels from 2017 know nothing newer.
'use strict';
var Page = (function () {
	var doc = document, root = doc.documentElement;
	var P = { base: '', key: '', on: {}, head: {}, header: 'X-API-Key', scheme: '', more: '', idle: 120000, wait: 30000 };
	var last = '', stop = null, heard = 0, lostAt = 0, tries = 0, runs = 0, shown = {}, held = -1000, waiting = null, opener = null, panelAt = '', again = 0, touched = 0;

	P.el = function (id) { return doc.getElementById(id); };
	P.now = function () { return performance.now(); };

	// The code of a link leaves the address at once. One that nobody can read is none.
	P.code = function () {
		var found = /^#code=(.+)$/.exec(location.hash);
		if (!found) { return ''; }
		history.replaceState(null, '', location.pathname + location.search);
		try { return decodeURIComponent(found[1]); } catch (e) { return ''; }
	};

	// A network that swallows everything ends nothing: whoever waits for it gives up. Browsers
	// before 2018 cannot abort, and let go of it.
	function patience() {
		var abort = window.AbortController ? new AbortController() : null, late, give;
		late = new Promise(function (go, fail) { give = function () { if (abort) { abort.abort(); } fail(new Error('no answer')); }; });
		late.catch(function () { return; });
		late.give = give;
		late.signal = abort ? abort.signal : undefined;
		return late;
	}

	P.ask = async function (method, path, body, more) {
		var h = Object.assign({}, more);
		if (P.key) { h[P.header] = P.scheme + P.key; }
		if (body && !h['Content-Type']) { h['Content-Type'] = 'application/json'; }
		var late = patience(), timer = setTimeout(late.give, P.wait);
		try { return await Promise.race([fetch(path, { method: method, headers: h, body: body || undefined, cache: 'no-store', credentials: 'omit', signal: late.signal }), late]); } finally { clearTimeout(timer); }
	};

	// What came is shown together, and not while a finger is on the page. A region keeps
	// its focus, and what somebody has unfolded.
	function swap(parts) {
		parts = Object.assign(waiting || {}, parts);
		waiting = null;
		if (P.now() - held < 400) {
			waiting = parts;
			setTimeout(function () { if (waiting) { swap({}); } }, 450);
			return;
		}
		if (P.on.head) { P.on.head(P.head); }
		var focus = doc.activeElement && doc.activeElement.id;
		Object.keys(parts).forEach(function (id) {
			var at = P.el(id), open;
			if (!at || shown[id] === parts[id]) { return; }
			open = Array.from(at.querySelectorAll('details[open]'), function (x) { return x.id; });
			at.innerHTML = shown[id] = parts[id];
			open.forEach(function (x) { if (P.el(x)) { P.el(x).open = true; } });
		});
		if (P.on.shown) { P.on.shown(); }
		if (focus && P.el(focus) && doc.activeElement !== P.el(focus)) { P.el(focus).focus(); }
	}

	function take(block, parts) {
		var name = '', id = '', data = [];
		block.split('\n').forEach(function (line) {
			var at = line.indexOf(': '), field = line.slice(0, at), value = line.slice(at + 2);
			if (field === 'event') { name = value; } else if (field === 'id') { id = value; } else if (field === 'data') { data.push(value); }
		});
		if (!name) { return parts; }
		if (name !== 'head') { parts[name] = data.join('\n'); return parts; }
		last = id;
		P.head = JSON.parse(data.join('\n'));
		swap(parts);
		return {};
	}

	function found() {
		tries = 0;
		lostAt = 0;
		root.removeAttribute('data-lost');
	}

	// The time that the gateway has been away, in the units that all languages share.
	function age(ms) {
		var at = P.el('age'), m = Math.floor(ms / 60000), text = m < 1 ? Math.floor(ms / 10000) * 10 + ' s' : (m < 60 ? '' : Math.floor(m / 60) + ' h ') + m % 60 + ' min';
		if (at) { at.textContent = at.getAttribute('data-text').replace('{age}', text); }
	}

	async function follow(run) {
		var late = patience();
		stop = late.give;
		var r = await Promise.race([fetch(P.base + '/stream' + P.more, { headers: { [P.header]: P.scheme + P.key, 'Accept': 'text/event-stream', 'Last-Event-ID': last },
			cache: 'no-store', credentials: 'omit', signal: late.signal }), late]);
		if (r.status === 401 || r.status === 403 || r.status === 404) { P.on.refused(r.status); }
		if (!r.ok || !/^text\/event-stream/.test(r.headers.get('Content-Type'))) { throw new Error('status ' + r.status); }
		var reader = r.body.getReader(), text = new TextDecoder(), rest = '', parts = {};
		stop = function () { if (late.signal) { late.give(); } else { reader.cancel(); } };
		for (;;) {
			var chunk = await reader.read();
			if (chunk.done || run !== runs) { throw new Error('ended'); }
			heard = P.now();
			found();
			var blocks = (rest + text.decode(chunk.value, { stream: true })).split('\n\n');
			rest = blocks.pop();
			for (var i = 0; i < blocks.length; i++) { parts = take(blocks[i], parts); }
		}
	}

	// P.start follows the stream until P.end, and comes back whenever it ends.
	P.start = async function () {
		var run = ++runs;
		while (run === runs) {
			heard = P.now();
			try { await follow(run); } catch (e) { /* it is looked for again below */ }
			if (run !== runs) { return; }
			if (!lostAt) { lostAt = P.now(); }
			var wait = (0.3 + Math.random()) * Math.min(1000 * Math.pow(2, tries++), 15000);
			await new Promise(function (go) { setTimeout(go, wait); });
		}
	};
	P.end = function () { runs++; last = ''; if (stop) { stop(); } };

	// The gateway says ": alive" every 15 s: after 40 s without a word it is gone.
	setInterval(function () {
		var now = P.now();
		if (P.key && stop && now - heard > 40000) { lostAt = lostAt || now - 40000; heard = now; stop(); }
		if (lostAt && now - lostAt > 5000) { root.setAttribute('data-lost', ''); age(now - lostAt); }
		Array.prototype.forEach.call(doc.querySelectorAll('[data-ago]'), function (x) { x.textContent = x.textContent.replace(/^\d+(?= s$)/, function (n) { return +n + 1; }); });
		if (panelAt && again && now - again > 5000) { again = now; P.open(panelAt, true); }
		if (panelAt && P.idle && now - touched > P.idle) { P.close(); }
	}, 1000);

	P.show = function (html, path, quiet) {
		var panel = P.el('panel');
		if (!quiet) { opener = opener || doc.activeElement; touched = P.now(); }
		panel.innerHTML = html;
		panel.hidden = false;
		panelAt = path || ' ';
		again = panel.querySelector('[data-again]') ? P.now() : 0;
		var to = panel.querySelector('[autofocus],input:not([type=hidden]),select,button');
		if (!quiet && to) { to.focus(); }
	};
	P.close = function () {
		P.el('panel').hidden = true;
		P.el('panel').innerHTML = panelAt = '';
		if (opener && opener.id && P.el(opener.id)) { P.el(opener.id).focus(); }
		opener = null;
	};
	// Who has tapped sees the answer: one that is no HTML says that it was not possible.
	function answer(r, text, path, quiet) {
		if (r.status === 401) { P.on.refused(401); } else if (/html/.test(r.headers.get('Content-Type'))) { P.show(text, path, quiet); } else if (!quiet) { P.on.failed(text); }
	}
	P.open = async function (path, quiet) {
		try {
			var r = await P.ask('GET', P.base + '/' + path), html = await r.text();
			if (!quiet || panelAt === path) { answer(r, html, path, quiet); }
		} catch (e) { root.setAttribute('data-lost', ''); }
	};
	P.post = async function (path, body, button) {
		if (button) { button.disabled = true; }
		try {
			var r = await P.ask('POST', P.base + '/' + path, body || '{}', { 'Idempotency-Key': 'page-' + Math.random().toString(36).slice(2) + Math.random().toString(36).slice(2) });
			answer(r, await r.text(), '');
		} catch (e) { root.setAttribute('data-lost', ''); }
		if (button) { button.disabled = false; }
	};

	function up(e, what) { return e.target.closest ? e.target.closest(what) : null; }
	doc.addEventListener('click', function (e) {
		var b = up(e, '[data-post],[data-open],[data-close]');
		touched = P.now();
		if (!b || b.tagName === 'FORM') { return; }
		if (b.hasAttribute('data-close')) { P.close(); return; }
		if (b.hasAttribute('data-open')) { P.open(b.getAttribute('data-open')); return; }
		P.post(b.getAttribute('data-post'), b.getAttribute('data-body'), b);
	});
	doc.addEventListener('submit', function (e) {
		var f = up(e, 'form'), body = {};
		e.preventDefault();
		Array.prototype.forEach.call(f.elements, function (x) {
			if (x.name && (x.type !== 'radio' && x.type !== 'checkbox' || x.checked)) { body[x.name] = x.value; }
		});
		if (P.on.submit && P.on.submit(f, body)) { return; }
		P.post(f.getAttribute('data-post'), JSON.stringify(body), f.querySelector('button'));
	});
	doc.addEventListener('keydown', function (e) {
		var panel = P.el('panel');
		touched = P.now();
		if (panel.hidden) { return; }
		if (e.key === 'Escape') { P.close(); }
		if (e.key !== 'Tab') { return; }
		var all = Array.from(panel.querySelectorAll('button,input,select,textarea,summary,a[href],[tabindex="0"]')).filter(function (x) { return x.offsetParent && !x.disabled; }), end = all[e.shiftKey ? 0 : all.length - 1];
		if (all.length && (doc.activeElement === end || !panel.contains(doc.activeElement))) { all[e.shiftKey ? all.length - 1 : 0].focus(); e.preventDefault(); }
	});
	['touchstart', 'mousedown'].forEach(function (kind) { doc.addEventListener(kind, function () { held = touched = P.now(); }, { passive: true }); });
	return P;
})();
