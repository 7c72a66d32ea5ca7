const status = document.createElement('p');
status.className = 'unseen';
status.setAttribute('role', 'status');
document.body.append(status);

// Another page, or the present state of this one.
async function load(address) {
  const response = await fetch(address, { redirect: 'error' });
  if (!response.ok) return null;
  return new DOMParser().parseFromString(await response.text(), 'text/html');
}

// Without HTTPS there is no `navigator.clipboard`, and a person may refuse it.
async function copy(text) {
  const written = navigator.clipboard?.writeText(text).then(() => true, () => false);
  if (await written) return;
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
// A button for each text that can be copied; those of a list are on pages of their own.
for (const part of document.querySelectorAll('[data-copy]')) {
  const { copy: text, from, of } = part.dataset;
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = text;
  button.classList.toggle('link', Boolean(from));
  if (of) button.setAttribute('aria-describedby', of);
  // Above a long text, where it is seen.
  part[from ? 'after' : 'before'](button);
  button.addEventListener('click', async () => {
    await copy((from ? (await load(from)).getElementById('text') : part).textContent);
    button.classList.add('copied');
    status.textContent = 'Copied';
    button.focus();
    setTimeout(() => { button.classList.remove('copied'); status.textContent = ''; }, 2000);
  });
}
