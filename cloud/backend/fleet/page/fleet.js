// The page of a fleet: it asks its backend every two seconds, and writes what comes as
// text, never as markup. The key stays in this tab.
'use strict';
(function () {
	var doc = document, key = sessionStorage.getItem('fleet key') || '', last = 0, tail = [], timer = 0, shown = {}, from = {};
	function el(id) { return doc.getElementById(id); }
	function say(text) { el('state').textContent = text; }

	async function ask(method, path, body) {
		var r = await fetch(path, { method: method, headers: { 'X-API-Key': key, 'Content-Type': 'application/json' }, body: body ? JSON.stringify(body) : undefined, cache: 'no-store', credentials: 'omit' });
		var answer = await r.json();
		if (r.status === 401) { shut(); }
		if (!r.ok) { throw new Error(answer.detail || r.status); }
		return answer;
	}

	function when(t) { return t && t.slice(0, 4) !== '0001' ? new Date(t).toLocaleString() : ''; }

	// A cell is text, or text that is bad, or a node.
	function fill(id, heads, lines) {
		var mark = JSON.stringify(lines, function (k, v) { return v && v.nodeType ? v.textContent : v; });
		if (shown[id] === mark) { return; } // what somebody has under his finger stays
		shown[id] = mark;
		var table = doc.createDocumentFragment();
		[heads].concat(lines).forEach(function (line, i) {
			var row = doc.createElement('tr');
			line.forEach(function (cell) {
				var td = doc.createElement(i ? 'td' : 'th');
				if (cell && cell.nodeType) { td.appendChild(cell); } else if (cell && cell.bad) { td.className = 'bad'; td.textContent = cell.bad; } else { td.textContent = cell === undefined || cell === null ? '' : cell; }
				row.appendChild(td);
			});
			table.appendChild(row);
		});
		if (!lines.length) { var none = doc.createElement('caption'); none.textContent = 'none yet'; table.appendChild(none); }
		el(id).replaceChildren ? el(id).replaceChildren(table) : (el(id).textContent = '', el(id).appendChild(table));
	}

	function turns(r) {
		var all = doc.createElement('span');
		({ running: ['pause', 'abort'], paused: ['resume', 'abort'], stopped: ['resume', 'abort'] }[r.state] || []).forEach(function (does) {
			var b = doc.createElement('button');
			b.textContent = does;
			b.onclick = function () { ask('POST', '/rollouts/' + encodeURIComponent(r.id) + '/' + does).then(look, function (e) { say(e.message); }); };
			all.appendChild(b);
		});
		return all;
	}

	// page asks for one page of a list, and lets go on to the next or back to the first.
	async function page(name) {
		var got = await ask('GET', '/' + name + '?limit=50&from=' + encodeURIComponent(from[name] || ''));
		var next = el('next-' + name), first = el('first-' + name);
		next.hidden = !got.next; first.hidden = !from[name];
		next.onclick = function () { from[name] = got.next; look(); };
		first.onclick = function () { from[name] = ''; look(); };
		return got;
	}

	async function show() {
		var g = await page('gateways'), r = await ask('GET', '/rollouts'), c = await page('claims'), s = await page('schedules'), rows = await ask('GET', last ? '/rows?after=' + last : '/rows?newest=50');
		fill('gateways', ['Gateway', 'Presence', 'Since', 'Release', 'Revision', 'Locks', 'Waiting', 'Rooms'], g.gateways.map(function (g) {
			var contested = g.contested && { bad: 'contested since ' + when(g.contested) };
			return [g.gateway_id, contested || (g.online ? 'online' : { bad: 'offline' }), when(g.since), g.version, g.config_revision, g.unlocked ? { bad: 'not closed' } : 'closed', g.outbox_depth, Object.keys(g.meeting_spaces || {}).map(function (id) { return g.meeting_spaces[id].name; }).join(', ')];
		}));
		fill('rollouts', ['Name', 'State', 'Waiting', 'Sent', 'Taken', 'Refused', 'Late', ''], r.rollouts.map(function (r) { return [r.name || r.id, r.state, r.gateways.waiting, r.gateways.sent, r.gateways.taken, r.gateways.refused, r.gateways.late, turns(r)]; }));
		fill('claims', ['Gateway', 'Organization', 'State', 'Reason', 'Time'], c.claims.map(function (c) { return [c.gateway_id, c.organization, c.state, c.reason, when(c.time)]; }));
		fill('schedules', ['Gateway', 'Meeting space', 'Revision', 'Bookings', 'State', 'Reason'], s.schedules.map(function (s) {
			var state = s.state === 'rejected' || s.state === 'failed' ? { bad: s.state } : s.state || 'waiting';
			return [s.gateway_id, s.meeting_space_id, s.revision, s.bookings.length, state, s.reason];
		}));
		rows.rows.forEach(function (row) { last = row.number; tail.unshift([when(row.time), row.gateway_id, row.sequence, row.type, JSON.stringify(row.data).slice(0, 200)]); });
		tail = tail.slice(0, 50);
		fill('rows', ['Time', 'Gateway', 'Sequence', 'Type', 'Data'], tail);
		say(g.known + (g.known === 1 ? ' gateway, ' : ' gateways, ') + g.online + ' online');
	}

	async function look() {
		clearTimeout(timer);
		try { await show(); el('door').hidden = true; el('fleet').hidden = false; sessionStorage.setItem('fleet key', key); } catch (e) { say(e.message); }
		clearTimeout(timer);
		if (key) { timer = setTimeout(look, 2000); }
	}

	function shut() { key = ''; sessionStorage.removeItem('fleet key'); el('door').hidden = false; el('fleet').hidden = true; }

	el('door').onsubmit = function (e) { e.preventDefault(); key = el('key').value.trim(); el('key').value = ''; look(); };
	el('claim').onsubmit = function (e) {
		e.preventDefault();
		var asked = {}, form = e.target;
		['gateway_id', 'code', 'organization'].forEach(function (name) { asked[name] = form.elements[name].value.trim(); });
		ask('POST', '/claims', asked).then(function () { form.reset(); look(); }, function (e) { say(e.message); });
	};
	el('find').onsubmit = function (e) { e.preventDefault(); from.gateways = e.target.elements.id.value.trim(); look(); };
	if (key) { look(); }
}());
