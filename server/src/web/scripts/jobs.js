// Replaces each running job by its present state in a new version of the page, until it has ended.
const state = document.createElement('p');
state.className = 'unseen';
state.setAttribute('role', 'status');
document.body.append(state);

function update(job, page) {
  const isIt = other => other.querySelector('a').getAttribute('href') === job.dataset.poll;
  const next = [...page.querySelectorAll('.job')].find(isIt);
  if (!next || next.isEqualNode(job)) return;
  if (next.dataset.state !== job.dataset.state) state.textContent = next.dataset.state;
  const controls = entry => [...entry.querySelectorAll('a, button')];
  const at = controls(job).indexOf(document.activeElement);
  job.replaceWith(next);
  if (at >= 0) (controls(next)[at] ?? controls(next)[0])?.focus();
}
async function watch() {
  const running = document.querySelectorAll('[data-poll]');
  if (running.length === 0) return;
  const page = document.hidden ? null : await load(location.href).catch(() => null);
  if (page) running.forEach(job => update(job, page));
  setTimeout(watch, 1500);
}
setTimeout(watch, 1000);
