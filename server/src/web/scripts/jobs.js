// Replaces each running job by its present state, until it has ended.
const state = document.createElement('p');
state.className = 'unseen';
state.setAttribute('role', 'status');
document.body.append(state);

async function refresh(job) {
  const response = await fetch(job.dataset.poll, { redirect: 'error' });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const next = page.body.firstElementChild;
  if (!next || next.isEqualNode(job)) return;
  if (next.dataset.state !== job.dataset.state) state.textContent = next.dataset.state;
  const hadFocus = job.contains(document.activeElement);
  job.replaceWith(next);
  if (hadFocus) next.querySelector('a, button')?.focus();
}
async function watch() {
  const running = document.querySelectorAll('[data-poll]');
  if (running.length === 0) return;
  if (!document.hidden) await Promise.allSettled([...running].map(refresh));
  setTimeout(watch, 1500);
}
setTimeout(watch, 1000);
