// Chromium keeps even pages with `no-store` in its back/forward cache and shows them after signing
// out. This hides a page that is left, and reloads one that is shown again.
addEventListener('pagehide', () => { document.body.hidden = true; });
addEventListener('pageshow', event => { if (event.persisted) location.reload(); });

for (const all of document.querySelectorAll('input[data-all]')) {
  all.parentElement.hidden = false;
  const boxes = all.form.querySelectorAll(`input[name="${all.dataset.all}"]`);
  all.addEventListener('change', () => boxes.forEach(box => { box.checked = all.checked; }));
}
for (const count of document.querySelectorAll('[data-count]')) {
  const form = count.closest('form');
  const show = () => {
    const chosen = form.querySelectorAll(`input[name="${count.dataset.count}"]:checked`).length;
    count.textContent = `${chosen} selected`;
  };
  form.addEventListener('change', show);
  show();
}

const root = document.body.dataset.root;
const search = () => document.querySelector('input[type=search]');
if (location.hash === '#q') search()?.focus();
function move(step) {
  const links = [...document.querySelectorAll('main a.title')];
  const at = links.indexOf(document.activeElement);
  links[at < 0 ? 0 : at + step]?.focus();
}
const keys = {
  '/': ['Search the prompts', () => search() ? search().focus() : location.assign(`${root}prompts#q`)],
  'n': ['Write a new prompt', () => location.assign(`${root}prompts/new`)],
  'j': ['Go to the next entry of a list', () => move(1)],
  'k': ['Go to the one before', () => move(-1)],
  '?': ['Show these shortcuts', () => dialog.showModal()],
};

// A person may turn off shortcuts of one character: dictation and slips can trigger them.
const rows = Object.entries(keys).map(([key, [text]]) => `<dt><kbd>${key}</kbd></dt><dd>${text}</dd>`);
document.querySelector('footer').insertAdjacentHTML('beforeend', `
  <button type="button">Keyboard shortcuts</button>
  <dialog aria-labelledby="shortcuts"><h2 id="shortcuts">Keyboard shortcuts</h2><dl>${rows.join('')}</dl>
  <label class="choice"><input type="checkbox">Shortcuts are on</label>
  <form method="dialog"><button>Close</button></form></dialog>`);
const dialog = document.querySelector('dialog');
const toggle = dialog.querySelector('input');
toggle.checked = localStorage.getItem('shortcuts') !== 'off';
toggle.addEventListener('change', () => {
  localStorage.setItem('shortcuts', toggle.checked ? 'on' : 'off');
});
document.querySelector('footer button').addEventListener('click', () => dialog.showModal());
addEventListener('keydown', event => {
  const isTyping = event.target.closest('textarea, select, input:not([type=checkbox])');
  if (isTyping || !toggle.checked || dialog.open) return;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  if (Object.hasOwn(keys, event.key)) {
    event.preventDefault();
    keys[event.key][1]();
  }
});
