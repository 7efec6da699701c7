// The page of a fleet: it asks its backend every two seconds, and writes what comes as
// text, never as markup. The key stays in this tab.
'use strict';
(function () {
	var doc = document, key = sessionStorage.getItem('fleet key') || '', last = 0, tail = [], timer = 0, from = {};
	function el(id) { return doc.getElementById(id); }
	function put(node, text) { if (node.textContent !== text) { node.textContent = text; } } // what is read aloud is not read again
	function say(text) { put(el('state'), text); }
	function tell(node, text, bad) { node.className = bad ? 'said bad' : 'said'; put(node, text); }
	function made(name, text, more) { var node = doc.createElement(name); node.textContent = text || ''; return Object.assign(node, more); }
	function counted(n, noun) { return n + ' ' + noun + (n === 1 ? '' : 's'); }

	async function ask(method, path, body) {
		var r = await fetch(path, { method: method, headers: { 'X-API-Key': key, 'Content-Type': 'application/json' }, body: body ? JSON.stringify(body) : undefined, cache: 'no-store', credentials: 'omit' });
		var answer = await r.json();
		if (r.status === 401) { shut(); }
		if (!r.ok) { throw new Error(answer.detail || r.status); }
		return answer;
	}

	function known(t) { return Boolean(t) && t.slice(0, 4) !== '0001'; }
	function when(t) { return known(t) ? new Date(t).toLocaleString() : ''; }
	function day(t) { return new Date(t).toLocaleDateString(); }

	// A cell is text, or {bad: text}, or {mark: …, make: function}: what make returns is shown until the mark is another.
	function cell(td, want) {
		var make = want && want.make, bad = want && want.bad, text = make ? want.mark : String(bad || (want === undefined || want === null ? '' : want));
		if (td.mark === text) { return; }
		td.mark = text;
		td.className = bad ? 'bad' : '';
		td.textContent = make ? '' : text;
		if (make) { td.appendChild(want.make()); }
	}

	// fill shows lines, each with its key before its cells. What is the same stays, with the focus that is in it.
	function fill(id, heads, lines) {
		var table = el(id);
		if (!table.tHead) {
			var head = table.createTHead().insertRow();
			heads.forEach(function (text) { head.appendChild(text ? made('th', text, { scope: 'col' }) : made('td')); });
			table.appendChild(made('tbody'));
		}
		var body = table.tBodies[0], old = {};
		Array.from(body.rows).forEach(function (row) { old[row.key] = row; });
		lines.forEach(function (line, i) {
			var row = old[line[0]] || made('tr', '', { key: line[0] });
			delete old[line[0]];
			heads.forEach(function (text, n) {
				var td = row.cells[n] || row.insertCell();
				td.setAttribute('data-label', text);
				cell(td, line[n + 1]);
			});
			if (body.rows[i] !== row) { body.insertBefore(row, body.rows[i] || null); }
		});
		Object.keys(old).forEach(function (k) { old[k].remove(); });
		table.tHead.hidden = !lines.length;
		if (lines.length) { table.deleteCaption(); } else { table.createCaption().textContent = 'none yet'; }
	}

	// sure asks before does is called.
	function sure(what, then, yes, does) {
		var box = el('sure');
		if (!box.showModal) { if (confirm(what + ' ' + then)) { does(); } return; } // a browser of 2017
		el('sure-what').textContent = what; el('sure-then').textContent = then; el('sure-yes').textContent = yes;
		el('sure-no').onclick = function () { box.close(); };
		el('sure-yes').onclick = function () { box.close(); does(); };
		box.showModal();
	}

	// wrong says under a field what is wrong with it; the first one that is wrong gets the focus, if it is not to stay.
	function wrong(input, text, stay) {
		var field = input.closest('.field'), note = field.querySelector('.wrong') || field.appendChild(made('p', '', { className: 'wrong', id: field.querySelector('[id]').id + '-wrong' }));
		if (!note.textContent) { note.textContent = text; }
		input.setAttribute('aria-invalid', 'true');
		input.setAttribute('aria-describedby', (input.getAttribute('aria-describedby') || '') + ' ' + note.id);
		if (stay) { note.setAttribute('role', 'alert'); } else if (!input.form.querySelector('[aria-invalid=true]:focus')) { input.focus(); }
	}
	function calm(form) {
		form.querySelectorAll('.wrong').forEach(function (p) { p.remove(); });
		form.querySelectorAll('[aria-invalid]').forEach(function (i) { i.removeAttribute('aria-invalid'); i.removeAttribute('aria-describedby'); describe(i); });
		tell(form.querySelector('.said'), '');
	}
	function fine(form) { return !form.querySelector('[aria-invalid=true]'); }
	// describe lets the hint of a field be read with it.
	function describe(input) {
		var hint = input.closest('.field') && input.closest('.field').querySelector('.hint');
		if (hint) { hint.id = input.id + '-hint'; input.setAttribute('aria-describedby', hint.id); }
	}
	doc.querySelectorAll('.field [name]').forEach(describe);

	function certificate(g) {
		var c = g.cloud_certificate, until = c && known(c.until) ? c.until : '';
		if (known(g.revoked)) { return { bad: 'revoked on ' + day(g.revoked) }; }
		if (!c) { return 'none'; }
		if (until && new Date(until) < new Date()) { return { bad: 'ended on ' + day(until) }; }
		var text = c.state.replace(/_/g, ' ') + (until ? ' until ' + day(until) : '');
		return ['good', 'renewing', 'wanted'].indexOf(c.state) < 0 ? { bad: text } : text;
	}

	function turns(r) {
		var all = made('div', '', { className: 'acts' });
		({ running: ['pause', 'abort'], paused: ['resume', 'abort'], stopped: ['resume', 'abort'] }[r.state] || []).forEach(function (does) {
			function turn() {
				ask('POST', '/rollouts/' + encodeURIComponent(r.id) + '/' + does).then(function () { tell(el('turned'), called(r) + ' was ' + { pause: 'paused', resume: 'resumed', abort: 'aborted' }[does]); look(); }, function (e) { tell(el('turned'), e.message, true); });
			}
			var b = made('button', does, { type: 'button', onclick: turn, className: does === 'abort' ? 'danger' : '' });
			b.setAttribute('aria-label', does + ' ' + called(r));
			if (does === 'abort') { b.onclick = function () { sure('Abort ' + called(r) + '?', 'Gateways that wait for it do not get it. Those that were sent it keep it. It cannot be resumed.', 'Yes, abort it', turn); }; }
			all.appendChild(b);
		});
		return all;
	}
	function called(r) { return r.name || r.release || r.id; }

	// page asks for one page of a list, and lets go on to the next or back to the first.
	async function page(name) {
		var got = await ask('GET', '/' + name + '?limit=50&from=' + encodeURIComponent(from[name] || ''));
		var next = el('next-' + name), first = el('first-' + name);
		next.hidden = !got.next; first.hidden = !from[name];
		next.onclick = function () { from[name] = got.next; look(); };
		first.onclick = function () { from[name] = ''; if (name === 'gateways') { el('find').reset(); } look(); };
		return got;
	}

	function spaces(g) { return Object.keys(g.meeting_spaces || {}).map(function (id) { return { id: id, name: g.meeting_spaces[id].name || id }; }); }

	async function show() {
		var g = await page('gateways'), r = await ask('GET', '/rollouts'), c = await page('claims'), s = await page('schedules'), rows = await ask('GET', last ? '/rows?after=' + last : '/rows?newest=50'), names = {};
		fill('gateways', ['Gateway', 'Presence', 'Since', 'Release', 'Revision', 'Certificate', 'Locks', 'Waiting', 'Rooms'], g.gateways.map(function (g) {
			var contested = g.contested && { bad: 'contested since ' + when(g.contested) };
			spaces(g).forEach(function (s) { names[g.gateway_id + '/' + s.id] = s.name; });
			return [g.gateway_id, g.gateway_id, contested || (g.online ? 'online' : { bad: 'offline' }), when(g.since), g.version, g.config_revision, certificate(g), g.unlocked ? { bad: 'not closed' } : 'closed', g.outbox_depth, spaces(g).map(function (s) { return s.name; }).join(', ')];
		}));
		suggest(g.gateways);
		fill('rollouts', ['Name', 'State', 'Begun', 'Waiting', 'Sent', 'Taken', 'Refused', 'Late', ''], r.rollouts.reverse().map(function (r) {
			var n = r.gateways, state = r.state === 'stopped' ? { bad: 'stopped: ' + r.why } : r.state;
			return [r.id, called(r), state, when(r.begun), n.waiting, n.sent, n.taken, n.refused ? { bad: n.refused } : 0, n.late ? { bad: n.late } : 0, { mark: r.state, make: function () { return turns(r); } }];
		}));
		fill('claims', ['Gateway', 'Organization', 'State', 'Reason', 'Time'], c.claims.map(function (c) { return [c.gateway_id, c.gateway_id, c.organization, c.state, c.reason, when(c.time)]; }));
		fill('schedules', ['Gateway', 'Meeting space', 'Revision', 'Bookings', 'State', 'Reason'], s.schedules.map(function (s) {
			var state = s.state === 'rejected' || s.state === 'failed' ? { bad: s.state } : s.state || 'waiting', place = s.gateway_id + '/' + s.meeting_space_id;
			return [place, s.gateway_id, names[place] || s.meeting_space_id, s.revision, s.bookings.length, state, s.reason];
		}));
		rows.rows.forEach(function (row) { last = row.number; tail.unshift([row.number, when(row.time), row.gateway_id, row.sequence, row.type, JSON.stringify(row.data).slice(0, 200)]); });
		tail = tail.slice(0, 50);
		fill('rows', ['Time', 'Gateway', 'Sequence', 'Type', 'Data'], tail);
		say(counted(g.known, 'gateway') + ', ' + g.online + ' online');
	}

	async function look() {
		clearTimeout(timer);
		try { await show(); el('door').hidden = true; el('fleet').hidden = false; sessionStorage.setItem('fleet key', key); } catch (e) { say(e.message); }
		clearTimeout(timer);
		if (key) { timer = setTimeout(look, 2000); }
	}

	function shut() { key = ''; sessionStorage.removeItem('fleet key'); el('door').hidden = false; el('fleet').hidden = true; }

	// sends lets a form send what wanted makes of it, once at a time, and says what came of it.
	function sends(form, wanted, done, refused) {
		var said = form.querySelector('.said'), busy = false;
		function send(w) {
			busy = true;
			tell(said, 'sending …');
			(w.first ? w.first() : Promise.resolve()).then(function () { return ask(w.method, w.path, w.body); }).then(function (answer) { busy = false; tell(said, done(answer)); look(); }, function (e) { busy = false; tell(said, ''); refused(e.message); });
		}
		form.onsubmit = function (e) {
			e.preventDefault();
			if (busy) { return; }
			calm(form);
			var w = wanted();
			if (!fine(form)) { return; }
			if (w.sure) { sure(w.sure[0], w.sure[1], w.sure[2], function () { send(w); }); } else { send(w); }
		};
	}
	function value(form, name) { return form.elements[name].value.trim(); }
	function labelled(input) { return input.labels[0].textContent; }

	el('door').onsubmit = function (e) { e.preventDefault(); key = el('key').value.trim(); el('key').value = ''; look(); };
	el('find').onsubmit = function (e) { e.preventDefault(); from.gateways = e.target.elements.id.value.trim(); look(); };

	var claim = el('claim');
	sends(claim, function () {
		var asked = {};
		['gateway_id', 'code', 'organization'].forEach(function (name) { asked[name] = value(claim, name); });
		return { method: 'POST', path: '/claims', body: asked };
	}, function (c) { claim.reset(); return 'the claim of ' + c.gateway_id + ' was sent'; }, function (text) { tell(claim.querySelector('.said'), text, true); });

	// A rollout: what a backend says of a member of the order is said of its field.
	var rollout = el('rollout'), members = [['the request is invalid', 'config'], ['config.update.url', 'url'], ['name or release', 'name'], ['per_minute', 'per_minute'], ['canary', 'canary'], ['growth', 'growth'], ['stop_share', 'stop_share'], ['stop_after', 'stop_after'], ['timeout_s', 'timeout_s'], ['gateway', 'gateways']];
	function number(name, least, most, whole) {
		var input = rollout.elements[name], text = input.value.trim(), n = Number(text.replace(',', '.'));
		if (text === '' || !(n >= least && n <= most) || whole && n % 1) { wrong(input, labelled(input) + ' is ' + (text || 'missing') + ': want a ' + (whole ? 'whole ' : '') + 'number from ' + least + ' to ' + most); }
		return n;
	}
	function configuration() {
		var input = rollout.elements.config, text = input.value.trim(), c = {};
		if (!text) { wrong(input, 'Configuration is missing: write what it brings, as {"rules": […]}'); return c; }
		try { c = JSON.parse(text); } catch (e) { wrong(input, 'Configuration is no JSON: ' + e.message); return c; }
		if (!c || typeof c !== 'object' || Array.isArray(c) || !Object.keys(c).length) { wrong(input, 'Configuration brings nothing: want an object with a member, as {"rules": […]}'); }
		return c;
	}
	function order() {
		var o = { name: value(rollout, 'name'), plan: {} }, p = o.plan, f = rollout.elements, ids = value(rollout, 'gateways');
		if (f.brings.value === 'config') { o.config = configuration(); } else {
			o.release = value(rollout, 'release');
			o.config = { update: { url: value(rollout, 'url') } };
			if (!o.release) { wrong(f.release, 'Release is missing: want one as 1.10.0'); }
			if (!/^https:\/\/[^/]/.test(o.config.update.url)) { wrong(f.url, 'Bundle is ' + (o.config.update.url || 'missing') + ': want an https address'); }
		}
		if (ids) { o.gateways = ids.split(/[\s,]+/).filter(Boolean); }
		p.canary = number('canary', 0, 1000000, true);
		p.per_minute = number('per_minute', 0.01, 10000);
		p.growth = number('growth', 1, 10);
		p.stop_share = number('stop_share', 0, 100) / 100;
		p.stop_after = number('stop_after', 0, 1000000, true);
		p.timeout_s = number('timeout_s', 1, 43200, true) * 60;
		return { method: 'POST', path: '/rollouts', body: o };
	}
	sends(rollout, order, function (r) { rollout.reset(); brings(); tell(el('turned'), ''); return called(r) + ' has begun, for ' + counted(r.gateways.waiting, 'gateway'); }, function (text) {
		var found = members.find(function (m) { return text.indexOf(m[0]) >= 0; });
		var input = found && rollout.elements[found[1]];
		if (input && !input.closest('[hidden]')) { wrong(input, labelled(input) + ': ' + text); } else { tell(rollout.querySelector('.said'), text, true); }
	});
	function brings() {
		var release = rollout.elements.brings.value === 'release';
		rollout.querySelector('.of-config').hidden = release;
		rollout.querySelector('.of-release').hidden = !release;
	}
	rollout.elements.brings.forEach(function (radio) { radio.onchange = function () { calm(rollout); brings(); }; });
	el('r-file').onchange = function (e) {
		var file = e.target.files[0], reader = new FileReader();
		if (!file) { return; }
		reader.onload = function () { rollout.elements.config.value = reader.result; if (!value(rollout, 'name')) { rollout.elements.name.value = file.name; } };
		reader.readAsText(file);
	};

	// A schedule: the bookings that the fleet has for a room, in the time of this browser.
	var schedule = el('schedule'), lines = el('bookings').tBodies[0], over = [], laid = 0, turn = 0;
	function suggest(gateways) {
		var ids = gateways.map(function (g) { return g.gateway_id; }).join(' ');
		if (el('known').mark === ids) { return; }
		el('known').mark = ids;
		el('known').textContent = '';
		gateways.forEach(function (g) { el('known').appendChild(made('option', '', { value: g.gateway_id })); });
	}
	function offer(options) {
		var select = schedule.elements.space;
		select.textContent = '';
		options.forEach(function (s) { select.appendChild(made('option', s.name, { value: s.id })); });
		select.disabled = options.length < 2;
		el('booked').hidden = true;
	}
	function local(t) {
		var d = new Date(t);
		return new Date(d.getTime() - d.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
	}
	function line(b) {
		var row = lines.insertRow();
		row.booking = b;
		[['Title', 'text', b.title || ''], ['Start', 'datetime-local', b.start_time ? local(b.start_time) : ''], ['End', 'datetime-local', b.end_time ? local(b.end_time) : '']].forEach(function (f) {
			var td = row.insertCell(), input = made('input', '', { type: f[1], value: f[2] });
			td.setAttribute('data-label', f[0]);
			td.appendChild(input);
			input.was = input.value;
		});
		row.insertCell().appendChild(made('button', 'Remove', { type: 'button', onclick: function () { row.remove(); count(); el('more').focus(); } }));
		count();
		return row;
	}
	function count() {
		Array.from(lines.rows).forEach(function (row, i) {
			row.querySelectorAll('input').forEach(function (input, n) { input.setAttribute('aria-label', ['Title', 'Start', 'End'][n] + ' of booking ' + (i + 1)); });
			row.querySelector('button').setAttribute('aria-label', 'Remove booking ' + (i + 1));
		});
		el('bookings').caption.textContent = counted(lines.rows.length, 'booking');
		el('bookings').tHead.hidden = !lines.rows.length;
	}
	function live(b) { return !b.state || b.state === 'booked' || b.state === 'checked_in'; }
	function lay(s) {
		var coming = s.bookings.filter(function (b) { return new Date(b.end_time) > new Date(); });
		over = coming.filter(function (b) { return !live(b); }); // as cancelled: they are sent as they are
		laid = s.revision;
		lines.textContent = '';
		coming.filter(live).sort(function (a, b) { return new Date(a.start_time) - new Date(b.start_time); }).forEach(line);
		count();
		var minutes = -new Date().getTimezoneOffset(), zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
		el('zone').textContent = 'Times are those of this browser’s time zone, ' + (zone ? zone + ', ' : '') + 'now UTC' + (minutes < 0 ? '−' : '+') + Math.floor(Math.abs(minutes) / 60) + (minutes % 60 ? ':' + Math.abs(minutes % 60) : '') + '. They are sent in UTC.';
		el('booked').hidden = false;
	}
	function stored(gateway, space) { return '/schedules?limit=1&from=' + encodeURIComponent(gateway + '/' + space); }
	// of is the schedule of a room in an answer, or that of one for which none was stored.
	function of(got, gateway, space) {
		var s = got.schedules[0];
		return s && s.gateway_id === gateway && s.meeting_space_id === space ? s : { revision: 0, bookings: [] };
	}
	// only calls does with the answer, if nothing else was asked for meanwhile.
	function only(path, does) {
		var mine = ++turn;
		ask('GET', path).then(function (answer) { if (mine === turn) { does(answer); } }, function (e) { tell(schedule.querySelector('.said'), e.message, true); });
	}
	schedule.elements.gateway.onchange = function (e) {
		var id = e.target.value.trim();
		calm(schedule);
		offer([{ id: '', name: 'name the gateway first' }]);
		turn++;
		if (!id) { return; }
		only('/gateways?limit=1&from=' + encodeURIComponent(id), function (got) {
			var g = got.gateways[0], all = g && g.gateway_id === id ? spaces(g) : [];
			if (!all.length) { wrong(e.target, 'Gateway ' + id + (g && g.gateway_id === id ? ' has not told of a meeting space yet' : ' was not heard yet: want the id of one that was'), true); return; }
			offer([{ id: '', name: 'choose one' }].concat(all));
		});
	};
	schedule.elements.space.onchange = function (e) {
		var gateway = value(schedule, 'gateway'), space = e.target.value;
		calm(schedule);
		el('booked').hidden = true;
		turn++;
		if (space) { only(stored(gateway, space), function (got) { lay(of(got, gateway, space)); }); }
	};
	el('more').onclick = function () { line({}).querySelector('input').focus(); };
	lines.addEventListener('change', function (e) { // an end that nobody has said is an hour later
		var row = e.target.closest('tr'), input = row.querySelectorAll('input'), start = new Date(input[1].value);
		if (e.target === input[1] && !input[2].value && !isNaN(start)) { input[2].value = local(start.getTime() + 3600000); }
	});
	function fresh() { return Array.from(crypto.getRandomValues(new Uint8Array(16)), function (b) { return ('0' + b.toString(16)).slice(-2); }).join(''); }
	// booking is that of a row; one that was changed has the revision after that which it had.
	function booking(row) {
		var input = row.querySelectorAll('input'), b = row.booking, start = new Date(input[1].value), end = new Date(input[2].value);
		if (isNaN(start)) { wrong(input[1], input[1].getAttribute('aria-label') + ' is missing: want a date and a time'); }
		if (isNaN(end)) { wrong(input[2], input[2].getAttribute('aria-label') + ' is missing: want a date and a time'); }
		if (end <= start) { wrong(input[2], input[2].getAttribute('aria-label') + ' is not after its start'); }
		if (isNaN(start) || isNaN(end) || b.id && Array.from(input).every(function (i) { return i.value === i.was; })) { return b; }
		var now = Object.assign({}, b, { id: b.id || fresh(), title: input[0].value.trim(), start_time: start.toISOString(), end_time: end.toISOString(), revision: b.id ? (b.revision || 1) + 1 : 1 });
		delete now.updated_at; // the building takes the time of the message
		return now;
	}
	function written() {
		var gateway = value(schedule, 'gateway'), space = schedule.elements.space, rows = Array.from(lines.rows), all = rows.map(booking);
		if (!gateway) { wrong(schedule.elements.gateway, 'Gateway is missing: want the id of one'); }
		if (gateway && !space.value) { wrong(space, 'Meeting space is missing: choose one'); }
		all.forEach(function (b, i) {
			var other = all.findIndex(function (o) { return new Date(o.start_time) < new Date(b.end_time) && new Date(b.start_time) < new Date(o.end_time); });
			if (other >= 0 && other < i) { wrong(rows[i].querySelectorAll('input')[1], 'Booking ' + (i + 1) + ' overlaps booking ' + (other + 1) + ': want one after the other'); }
		});
		var name = space.selectedOptions[0] && space.selectedOptions[0].textContent, id = space.value, had = laid;
		function first() { // what somebody else has written meanwhile is not written over
			return ask('GET', stored(gateway, id)).then(function (got) {
				var now = of(got, gateway, id).revision;
				if (now !== had) { throw new Error('Somebody has written revision ' + now + ' meanwhile: choose the meeting space again.'); }
			});
		}
		return { first: first, method: 'PUT', path: '/gateways/' + encodeURIComponent(gateway) + '/schedules/' + encodeURIComponent(id), body: { bookings: over.concat(all) }, sure: all.length ? null : ['Write an empty schedule?', 'All that the cloud has booked in ' + name + ' is cancelled.', 'Yes, cancel all'] };
	}
	sends(schedule, written, function (s) {
		if (s.gateway_id === value(schedule, 'gateway') && s.meeting_space_id === schedule.elements.space.value) { lay(s); } // else another room is there by now
		return 'Revision ' + s.revision + ' is stored, with ' + counted(s.bookings.length, 'booking') + '. The gateway gets it when it is online.';
	}, function (text) { tell(schedule.querySelector('.said'), text, true); });

	if (key) { look(); }
}());
