// The page of `kubectl sluice ui`. It only reads. Every text from the controller goes into the
// document as text, never as markup.

const at = (id) => document.getElementById(id);
const tabs = [...document.querySelectorAll('[role=tab]')];
const names = tabs.map((tab) => tab.dataset.section);

// A page has this many rows. The next question follows the last answer after a pause, in
// milliseconds, and a key in the search box after a shorter one.
const limit = 100;
const pause = (section) => (section === 'rates' ? 2000 : 4000);
const typing = 80;

// What is shown of each section, and the last answer.
const views = Object.fromEntries(names.map((name) => [name, { search: '', offset: 0, answer: null }]));
let section = names[0];
let shown = '';
let asking = null;
let timer = 0;

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// A short text is not broken into lines.
const short = 14;

function mark(cell) {
  const classes = [cell.mark, cell.text.length <= short ? 'short' : '', cell.text === '-' ? 'none' : ''].filter(Boolean);
  return classes.length > 0 ? { class: classes.join(' ') } : {};
}

async function ask(path, parameters, signal) {
  let response;
  try {
    response = await fetch(`${path}?${new URLSearchParams(parameters)}`, { signal });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Error('The plugin does not answer. Does `kubectl sluice ui` still run? Trying again.');
  }
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

// load asks for the rows of the present section. A newer question ends an older one.
async function load() {
  clearTimeout(timer);
  asking?.abort();
  const mine = new AbortController();
  asking = mine;
  const [name, view] = [section, views[section]];
  try {
    const path = name === 'conf' ? 'conf' : `table/${name}`;
    view.answer = await ask(path, { search: view.search, offset: view.offset, limit }, mine.signal);
    const last = Math.max(0, Math.ceil(view.answer.matched / limit) - 1) * limit;
    if (!view.answer.error && view.offset > last) {
      view.offset = last;
      return load();
    }
    show();
  } catch (error) {
    if (error.name === 'AbortError') return;
    complain('rows', error.message);
  }
  if (asking === mine) schedule();
}

function schedule() {
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(load, pause(section));
}

// complain shows what is wrong with the rows, or else with the state.
const wrong = { rows: '', state: '' };
function complain(of, error) {
  wrong[of] = error ?? '';
  const text = wrong.rows || wrong.state;
  if (at('error').textContent !== text) at('error').textContent = text;
  at('error').hidden = text === '';
}

// show puts the last answer into the document. Rows that are the same stay.
function show() {
  const { answer, search, offset } = views[section];
  at('panel').classList.toggle('waits', answer === null);
  complain('rows', answer?.error);
  at('count').textContent = counted(answer, search);
  at('previous').disabled = !answer || offset === 0;
  at('next').disabled = !answer || offset + limit >= answer.matched;
  const key = JSON.stringify([section, answer?.heading, answer?.rows, answer?.offset]);
  if (key === shown) return;
  shown = key;
  const count = answer ? (answer.heading ?? []).length - answer.wide : 0;
  const heading = (answer?.heading ?? []).slice(0, count);
  at('heading').replaceChildren(...heading.map((text) => element('th', text, { scope: 'col' })));
  const focused = [...at('rows').children].indexOf(document.activeElement);
  at('rows').replaceChildren(...(answer?.rows ?? []).map((row, i) => rowOf(row, heading, i)));
  if (focused >= 0) focusRow(focused);
}

function rowOf(row, heading, i) {
  const made = element('tr', '', { tabindex: i === 0 ? '0' : '-1' });
  made.append(...heading.map((label, n) => {
    const cell = element('td', '', { 'data-label': label });
    cell.append(element('span', row.cells[n].text, mark(row.cells[n])));
    return cell;
  }));
  made.addEventListener('click', () => { if (String(getSelection()) === '') open(row); });
  made.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault(); // the button that gets the focus must not get the key
    open(row);
  });
  return made;
}

const number = (n) => n.toLocaleString('en');

function counted(answer, search) {
  if (!answer) return 'Reading …';
  if (answer.matched === 0) {
    if (search !== '' && answer.total > 0) return `None of ${number(answer.total)} has these words`;
    return section === 'rates' && !answer.error ? 'No requests since the last look' : 'None';
  }
  const of = answer.matched === answer.total ? '' : ` (of ${number(answer.total)})`;
  return `${number(answer.offset + 1)}–${number(answer.offset + answer.rows.length)} of ${number(answer.matched)}${of}`;
}

// open shows the explanation of a route, or all fields of another row.
function open(row) {
  if (row.url) {
    at('url').value = row.url;
    at('method').value = 'GET';
    explain();
    return;
  }
  const heading = views[section].answer.heading;
  at('fields').replaceChildren(...heading.map((label, n) => {
    const field = document.createElement('div');
    const value = element('dd', row.cells[n].text, mark(row.cells[n]));
    field.append(element('dt', label), value);
    return field;
  }));
  at('details').showModal();
}

let explaining = null;
async function explain() {
  const url = at('url').value.trim();
  if (url === '') return;
  explaining?.abort();
  explaining = new AbortController();
  at('answer').hidden = false;
  at('text').textContent = 'Reading …';
  try {
    const answer = await ask('explain', { url, method: at('method').value }, explaining.signal);
    at('text').textContent = answer.error || answer.text;
    at('text').classList.toggle('bad', Boolean(answer.error));
  } catch (error) {
    if (error.name === 'AbortError') return;
    at('text').textContent = error.message;
  }
  at('answer').scrollIntoView({ block: 'nearest' });
}

// go shows a section, or another part of the present one.
function go(name, change = {}) {
  section = name;
  Object.assign(views[name], change);
  for (const tab of tabs) {
    const chosen = tab.dataset.section === name;
    tab.setAttribute('aria-selected', chosen);
    tab.tabIndex = chosen ? 0 : -1;
  }
  const tab = tabs[names.indexOf(name)];
  tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  if (tabs.includes(document.activeElement)) tab.focus();
  at('panel').setAttribute('aria-labelledby', tab.id);
  at('panel').dataset.section = name;
  at('caption').textContent = tab.textContent;
  document.title = `${tab.textContent} – Sluice`;
  at('explain').hidden = name !== 'routes';
  at('answer').hidden = name !== 'routes' || at('text').textContent === '';
  const { search, offset } = views[name];
  if (at('query').value !== search) at('query').value = search;
  history.replaceState(null, '', `#${new URLSearchParams({ section: name, search, offset })}`);
  show();
}

function turn(pages) {
  const { answer, offset } = views[section];
  const next = offset + pages * limit;
  if (!answer || next < 0 || next >= answer.matched) return;
  go(section, { offset: next });
  load();
  scrollTo(0, 0);
}

function visit(name) {
  if (name !== section) scrollTo(0, 0);
  go(name);
  load();
}

function beside(step) {
  visit(names[(names.indexOf(section) + step + names.length) % names.length]);
}

function focusRow(i) {
  const rows = [...at('rows').children];
  const row = rows[Math.min(Math.max(i, 0), rows.length - 1)];
  if (!row) return;
  for (const one of rows) one.tabIndex = one === row ? 0 : -1;
  row.focus();
}

function step(by) {
  focusRow([...at('rows').children].indexOf(document.activeElement) + by);
}

function leave() {
  if (at('query') === document.activeElement || at('url') === document.activeElement) {
    document.activeElement.blur();
  } else {
    close();
  }
}

function close() {
  at('text').textContent = '';
  at('answer').hidden = true;
}

const keys = {
  '/': () => { at('query').focus(); at('query').select(); },
  'e': () => { visit('routes'); at('url').focus(); at('url').select(); },
  'n': () => turn(1),
  'p': () => turn(-1),
  '?': () => at('keys').showModal(),
  'ArrowLeft': () => beside(-1),
  'ArrowRight': () => beside(1),
  'ArrowDown': () => step(1),
  'ArrowUp': () => step(-1),
  'Escape': leave,
};
names.forEach((name, i) => { keys[i + 1] = () => visit(name); });

document.addEventListener('keydown', (event) => {
  const writes = event.target.matches('input, select, textarea');
  const open = document.querySelector('dialog[open]');
  if (event.ctrlKey || event.metaKey || event.altKey || open || (writes && event.key !== 'Escape') || !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});

at('query').addEventListener('input', () => {
  go(section, { search: at('query').value, offset: 0 });
  asking?.abort();
  clearTimeout(timer);
  timer = setTimeout(load, typing);
});
at('search').addEventListener('submit', (event) => event.preventDefault());
at('explain').addEventListener('submit', (event) => { event.preventDefault(); explain(); });
at('close').addEventListener('click', close);
at('previous').addEventListener('click', () => turn(-1));
at('next').addEventListener('click', () => turn(1));
at('help').addEventListener('click', keys['?']);
for (const tab of tabs) tab.addEventListener('click', () => visit(tab.dataset.section));
document.addEventListener('visibilitychange', () => { if (!document.hidden) { load(); state(); } });

// state shows what the controller is, again and again.
let stating = 0;
async function state() {
  clearTimeout(stating);
  try {
    const { rows, error } = await ask('table/general', {});
    at('state').classList.toggle('old', Boolean(error));
    complain('state', error);
    at('state').replaceChildren(...rows.map(({ cells: [name, value] }) => {
      const field = document.createElement('div');
      field.append(element('dt', name.text), element('dd', value.text, mark(value)));
      return field;
    }));
  } catch (error) {
    at('state').classList.add('old');
    complain('state', error.message);
  }
  if (!document.hidden) stating = setTimeout(state, 3000);
}

function begin() {
  const written = new URLSearchParams(location.hash.slice(1));
  const name = names.includes(written.get('section')) ? written.get('section') : names[0];
  const offset = Number(written.get('offset'));
  go(name, { search: (written.get('search') ?? '').slice(0, 200), offset: Number.isSafeInteger(offset) && offset > 0 ? offset - (offset % limit) : 0 });
  load();
  state();
}

begin();
