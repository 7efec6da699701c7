// The console: signing in, and what forms and buttons ask of the gateway's own interface.
(function () {
	var P = Page, doc = document, root = doc.documentElement, slot = 'roomgate-console', loading = false, sending = false, pictures = {};
	P.base = '/console';
	P.more = '/' + encodeURIComponent(doc.body.getAttribute('data-section')) + location.search;
	P.header = 'Authorization';
	P.scheme = 'Bearer ';
	P.idle = 0;
	if (location.protocol === 'http:' && !/^(localhost|127\.)/.test(location.hostname)) { root.setAttribute('data-plain', ''); }

	// The session lasts as long as the tab at most, and no other page reads it.
	function keep(value) { try { if (value === null) { sessionStorage.removeItem(slot); } else { sessionStorage.setItem(slot, value); } } catch (e) { return; } }
	function kept() { try { return sessionStorage.getItem(slot) || ''; } catch (e) { return ''; } }
	function each(list, f) { Array.prototype.forEach.call(list, f); }

	P.on.head = function (head) {
		root.setAttribute('data-state', 'in');
		doc.title = head.title;
		P.el('title').textContent = head.heading;
		if (head.build !== doc.body.getAttribute('data-build') && !loading) { loading = true; reload(); }
	};
	// What the policy of the page lets no markup do: places in a grid, and pictures.
	P.on.shown = function () {
		each(doc.querySelectorAll('[data-row]'), function (x) { x.style.gridRow = x.getAttribute('data-row') + ' / span ' + x.getAttribute('data-span'); });
		each(doc.querySelectorAll('img[data-picture]:not([src])'), function (x) { if (x.getAttribute('data-at')) { picture(x); } });
	};
	var show = P.show;
	P.show = function (html, path, quiet) { show(html, path, quiet); P.on.shown(); };
	P.on.refused = function (status) {
		if (status === 401) { out('ended'); return; }
		P.end();
		root.setAttribute('data-state', status === 403 ? 'closed' : 'none');
	};

	P.on.failed = function (text) { toast(told(text, 'That was not possible. Try again.'), null, true); };

	async function reload() {
		try { if ((await fetch('/readyz', { cache: 'no-store' })).ok) { location.reload(); } } catch (e) { root.setAttribute('data-lost', ''); }
	}

	function out(why) {
		keep(null);
		P.end();
		P.key = '';
		P.el('panel').hidden = true;
		root.removeAttribute('data-lost');
		root.setAttribute('data-state', 'out');
		P.el('in-note').textContent = why ? P.el('in-note').getAttribute('data-' + why) : '';
		var to = P.el('code');
		if (to) { to.focus(); }
	}
	// leave ends the session at the gateway too.
	async function leave() {
		var ended = P.ask('DELETE', '/console/session');
		out();
		try { if ((await ended).ok) { return; } } catch (e) { root.setAttribute('data-lost', ''); }
		if (!P.key) { P.el('in-note').textContent = P.el('in-note').getAttribute('data-kept'); }
	}
	function enter(token) {
		P.key = token;
		keep(token);
		P.start();
	}

	function told(text, problem) {
		var said = text;
		try { var p = JSON.parse(text); said = p.conflict ? 'That time is taken: somebody was faster. The day behind this dialog shows what is free.' : p.detail || p.reason || p.title; } catch (e) { said = text; }
		return said || problem;
	}
	function complain(at, text) {
		var form = at && at.closest ? at.closest('form,.sheet') : null, place = form ? form.querySelector('.error') : null;
		if (place) { place.textContent = text; return; }
		toast(text, null, true);
	}

	async function signIn(path, body, form, then) {
		form.querySelector('.error').textContent = '';
		try {
			var r = await P.ask('POST', path, JSON.stringify(body)), text = await r.text();
			if (r.ok) { then(text ? JSON.parse(text) : {}); } else { if (/"organization_id"/.test(text) && P.el('which')) { P.el('which').hidden = false; }
				complain(form, told(text, 'It was refused.')); }
		} catch (e) { complain(form, 'The gateway does not answer. Try again.'); }
	}
	function byCode(code, form) {
		signIn('/console/session', { code: code }, form || P.el('by-code'), function (got) { enter(got.token); });
	}
	var signs = {
		'by-code': function (body, form) { byCode(body.code, form); },
		'by-mail': function (body, form) {
			signIn('/api/v1/auth/otp/request', { email: body.email }, form, function () {
				P.el('by-otp').hidden = false;
				P.el('otp').focus();
			});
		},
		'by-otp': function (body, form) {
			signIn('/api/v1/auth/otp/verify', { email: P.el('email').value, otp: body.otp, organization_id: body.organization_id || undefined }, form, function (got) { enter(got.data.access_token); });
		}
	};

	// What a field says, as its kind wants it in JSON. An empty one is left out.
	var kinds = { number: Number, json: JSON.parse };
	function read(form) {
		var body = {};
		each(form.elements, function (x) {
			var kind = x.getAttribute('data-kind'), value = x.value;
			if (!x.name || x.disabled || x.type === 'submit' || x.type === 'radio' && !x.checked) { return; }
			if (x.type === 'checkbox' && kind === 'many') { if (x.checked) { (body[x.name] = body[x.name] || []).push(value); } return; }
			if (x.type === 'checkbox') { body[x.name] = x.checked; return; }
			if (value === '') { return; }
			var at = body, names = x.name.split('.');
			while (names.length > 1) { at = at[names[0]] = at[names.shift()] || {}; }
			at[names[0]] = kinds[kind] ? kinds[kind](value) : value;
		});
		return body;
	}
	// fill puts values of an answer into a text for people, or, encoded, into a path. People gave
	// them: no text with them in it is parsed.
	function fill(text, answer, encode) {
		return text.replace(/\{([a-z_.]+)\}/g, function (all, path) { return (encode || String)(find(answer, path)); });
	}
	function find(answer, path) { return path.split('.').reduce(function (at, name) { return at && at[name]; }, answer); }

	// send asks the gateway for what a button or a form says: "POST /v2.0/bookings".
	async function send(el, how, body) {
		var at = how.indexOf(' '), method = how.slice(0, at), more = {};
		if (sending) { return; }
		sending = true;
		if (method === 'POST') { more['Idempotency-Key'] = 'console-' + Math.random().toString(36).slice(2) + Math.random().toString(36).slice(2); }
		if (el.getAttribute('data-match')) { more['If-Match'] = '"' + el.getAttribute('data-match') + '"'; }
		each(el.querySelectorAll ? el.querySelectorAll('.error') : [], function (x) { x.textContent = ''; });
		try {
			var r = await P.ask(method, how.slice(at + 1), body === null ? null : JSON.stringify(body), more), text = await r.text();
			if (r.status === 401) { out('ended'); } else if (!r.ok) { complain(el, told(text, 'It was refused.')); } else { done(el, text ? JSON.parse(text) : {}); }
		} catch (e) { complain(el, 'The gateway does not answer, or says what this page does not understand. Try again.'); }
		sending = false;
	}
	function done(el, answer) {
		each(el.querySelectorAll ? el.querySelectorAll('[type=password]') : [], function (x) { x.value = ''; });
		if (el.hasAttribute('data-receipt')) { receipt(el, answer); return; }
		if (el.reset) { el.reset(); } // what is sent again by mistake would be made twice
		if (answer.panel) { P.show(answer.panel); return; }
		var undo = el.getAttribute('data-undo'), show = el.getAttribute('data-show');
		if (show) { reveal(el, show, answer); return; }
		if (P.el('panel').contains(el)) { P.close(); }
		toast(fill(el.getAttribute('data-done') || 'Done.', answer), undo ? back(JSON.parse(undo), answer) : null);
	}

	// back is the request that undo describes; its body is sent as it is.
	function back(undo, answer) {
		undo.send = fill(undo.send, answer, encodeURIComponent);
		return undo;
	}

	// receipt tells what came of a command, with the proof, and shows the picture if it has taken one.
	var bolt = { open: 'unlocked', closed: 'locked' };
	function receipt(el, r) {
		var proof = r.evidence, text = el.textContent + ': ' + r.state;
		if (el.tagName === 'FORM') { text = el.querySelector('button.main').textContent + ': ' + r.state; }
		if (proof && proof.value) { text += ', read back as ' + (proof.device === 'lock' && bolt[proof.value] || proof.value) + (proof.source ? ' by ' + proof.source : ''); }
		if (r.reason) { text += ': ' + r.reason; }
		var at = P.el('panel').querySelector('.receipt');
		if (at) { at.textContent = text; } else { toast(text); }
		var img = P.el('panel').querySelector('img[data-picture]');
		if (img && r.state === 'done') {
			img.setAttribute('data-at', r.finished_at);
			img.parentNode.querySelector('figcaption').textContent = 'The last picture';
			picture(img);
		}
	}

	// reveal shows what the answer alone has, as a key: "API key=secret, Id=id".
	function reveal(el, show, answer) {
		var sheet = doc.createElement('div'), title = doc.createElement('h2'), list = doc.createElement('dl'), close = doc.createElement('button');
		sheet.className = 'sheet';
		title.id = 'panel-title';
		title.textContent = el.getAttribute('data-done') || 'Done.';
		show.split(', ').forEach(function (pair) {
			var parts = pair.split('='), dt = doc.createElement('dt'), dd = doc.createElement('dd'), code = doc.createElement('code');
			dt.textContent = parts[0];
			code.textContent = find(answer, parts[1]);
			dd.appendChild(code);
			list.appendChild(dt);
			list.appendChild(dd);
		});
		close.type = 'button';
		close.className = 'main';
		close.textContent = 'Close';
		close.setAttribute('data-close', '');
		[title, list, close].forEach(function (x) { sheet.appendChild(x); });
		P.show('', ' ');
		P.el('panel').appendChild(sheet);
		close.focus();
	}

	var pressed = null;
	var toasting = 0;
	function toast(text, undo, wrong) {
		var at = P.el('toast'), p = doc.createElement('p');
		clearTimeout(toasting);
		at.innerHTML = '';
		p.textContent = text;
		at.className = wrong ? 'wrong' : '';
		at.appendChild(p);
		if (undo) {
			var b = doc.createElement('button');
			b.type = 'button';
			b.id = 'undo';
			b.textContent = 'Undo';
			b.setAttribute('data-send', undo.send);
			b.setAttribute('data-body', JSON.stringify(undo.body === undefined ? null : undo.body));
			b.setAttribute('data-done', undo.done || 'It is as before.');
			at.appendChild(b);
		}
		toasting = setTimeout(function () { at.innerHTML = at.className = ''; }, undo || wrong ? 60000 : 8000);
	}

	// What is dangerous is asked twice, by the same button.
	function sure(b) {
		var text = b.getAttribute('data-sure');
		if (!text) { return true; }
		var before = b.getAttribute('data-asked');
		function calm() { if (b.hasAttribute('data-asked')) { b.textContent = b.getAttribute('data-asked'); b.removeAttribute('data-asked'); } }
		if (before !== null) { calm(); return true; }
		b.setAttribute('data-asked', b.textContent);
		b.textContent = text;
		setTimeout(calm, 20000);
		return false;
	}

	// Files and pictures come with the session, which no link and no img sends.
	async function load(b) {
		var had = doc.activeElement === b;
		b.disabled = true;
		try {
			var r = await P.ask('GET', b.getAttribute('data-get'));
			if (!r.ok) { throw new Error(told(await r.text(), 'It was refused.')); }
			var a = doc.createElement('a'), name = /filename="([^"]+)"/.exec(r.headers.get('Content-Disposition') || '');
			a.href = URL.createObjectURL(await r.blob());
			a.download = name ? name[1] : b.getAttribute('data-name');
			doc.body.appendChild(a);
			a.click();
			doc.body.removeChild(a);
			setTimeout(function () { URL.revokeObjectURL(a.href); }, 60000);
		} catch (e) { complain(b, e.message || 'The gateway does not answer. Try again.'); }
		b.disabled = false;
		if (had && P.el(b.id) && doc.activeElement === doc.body) { P.el(b.id).focus(); }
	}
	// A file goes as it is, and says how much of it is sent.
	function upload(form) {
		var x = new XMLHttpRequest(), bar = form.querySelector('progress'), b = form.querySelector('button.main'), more = [];
		function over(text) { b.disabled = false; bar.hidden = true; if (text) { complain(form, text); } }
		each(form.elements, function (e) { if (e.checked) { more.push(e.name + '=true'); } });
		form.querySelector('.error').textContent = '';
		x.open('POST', form.getAttribute('data-upload') + '?' + more.join('&'));
		x.setRequestHeader(P.header, P.scheme + P.key);
		x.setRequestHeader('Content-Type', 'application/octet-stream');
		x.upload.onprogress = function (e) { bar.hidden = false; bar.value = 100 * e.loaded / e.total; };
		x.onerror = function () { over('The gateway does not answer. Try again.'); };
		x.onload = function () {
			if (x.status === 401) { out('ended'); }
			over(x.status === 200 ? '' : told(x.responseText, 'It was refused.'));
			if (x.status === 200) { form.reset(); toast(form.getAttribute('data-done')); }
		};
		b.disabled = true;
		x.send(form.querySelector('[type=file]').files[0]);
	}
	async function picture(img) {
		var path = img.getAttribute('data-picture'), key = path + img.getAttribute('data-at');
		if (!pictures[path] || pictures[path].key !== key) {
			try {
				var r = await P.ask('GET', path);
				if (!r.ok) { return; }
				var reader = new FileReader(), blob = await r.blob();
				pictures[path] = { key: key, data: await new Promise(function (go) { reader.onload = function () { go(reader.result); }; reader.readAsDataURL(blob); }) };
			} catch (e) { return; }
		}
		img.src = pictures[path].data;
		img.parentNode.hidden = false;
	}

	P.on.submit = function (form, body) {
		if (signs[form.id]) { signs[form.id](body, form); return true; }
		if (form.hasAttribute('data-filter')) { filter(form); return true; }
		if (form.hasAttribute('data-upload')) { upload(form); return true; }
		var b = form.querySelector('button.main');
		if (b && !sure(b)) { return true; }
		try { body = read(form); if (pressed && pressed.form === form && pressed.name) { body[pressed.name] = pressed.value; } } catch (e) { complain(form, 'This is no JSON: ' + e.message); return true; }
		send(form, form.getAttribute('data-send'), body);
		return true;
	};
	function filter(form) {
		var all = [];
		each(form.elements, function (x) { if (x.name && x.value && (x.type !== 'checkbox' || x.checked)) { all.push(encodeURIComponent(x.name) + '=' + encodeURIComponent(x.value)); } });
		location.search = all.join('&');
	}
	doc.addEventListener('change', function (e) {
		var form = e.target.form;
		if (form && form.hasAttribute('data-filter')) { filter(form); }
	});
	doc.addEventListener('click', function (e) {
		pressed = e.target.closest ? e.target.closest('button[type=submit]') : null;
		var b = e.target.closest ? e.target.closest('[data-send],[data-get],#out') : null;
		if (!b || b.tagName === 'FORM') { return; }
		if (b.id === 'out') { leave(); return; }
		if (b.hasAttribute('data-get')) { load(b); return; }
		if (sure(b)) { send(b, b.getAttribute('data-send'), JSON.parse(b.getAttribute('data-body') || 'null')); }
	});

	// Who stands at a door with its key wants its room.
	function room() {
		try {
			for (var i = 0; i < localStorage.length; i++) {
				var found = /^roomgate-door-(.+)$/.exec(localStorage.key(i));
				if (found) { return found[1]; }
			}
		} catch (e) { return ''; }
		return '';
	}
	if (location.pathname === '/' && !kept() && room()) { location.replace('/display/' + room()); return; }
	var code = P.code();
	window.addEventListener('hashchange', function () { if (/^#code=/.test(location.hash)) { location.reload(); } });
	if (code) { out(); byCode(code); } else if (kept()) { enter(kept()); } else { out(); }
})();
