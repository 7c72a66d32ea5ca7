// Takes a picture that is dropped on the form, and shows the progress of the upload. If the upload
// is refused, the form of the response replaces it, with the reasons; it is not sent a second time.
const attach = form => {
  const input = form.querySelector('input[type=file]');
  const progress = form.querySelector('progress');
  form.addEventListener('dragover', event => {
    event.preventDefault();
    form.classList.add('drop');
  });
  form.addEventListener('dragleave', () => form.classList.remove('drop'));
  form.addEventListener('drop', event => {
    event.preventDefault();
    form.classList.remove('drop');
    if (event.dataTransfer.files.length > 0) input.files = event.dataTransfer.files;
  });
  form.addEventListener('submit', event => {
    if (input.files.length === 0) return;
    event.preventDefault();
    const request = new XMLHttpRequest();
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      progress.value = 100 * loaded / total;
    });
    request.addEventListener('load', () => {
      if (request.status < 300) location.assign(request.responseURL);
      else show(form, request.response, `The server answered with status ${request.status}.`);
    });
    request.addEventListener('error', () => show(form, null, 'The connection broke off.'));
    request.responseType = 'document';
    request.open('POST', form.action);
    progress.hidden = false;
    progress.value = 0;
    disable(form, true);
    request.send(new FormData(form));
  });
};
function disable(form, disabled) {
  for (const button of form.querySelectorAll('button')) button.disabled = disabled;
}
// The response, or if it has no form its text above the form, which keeps what was typed.
function show(form, page, text) {
  const main = page?.querySelector('main:has(form[data-upload])');
  if (main) {
    document.title = page.title;
    main.querySelector('input[type=file]').files = form.querySelector('input[type=file]').files;
    document.querySelector('main').replaceWith(main);
    document.querySelectorAll('form[data-upload]').forEach(attach);
    scrollTo(0, 0);
    return;
  }
  const problem = document.createElement('p');
  problem.className = 'card problem';
  problem.setAttribute('role', 'alert');
  problem.textContent = page?.querySelector('.problem')?.textContent ?? text;
  form.before(problem);
  form.querySelector('progress').hidden = true;
  disable(form, false);
  problem.scrollIntoView();
}
document.querySelectorAll('form[data-upload]').forEach(attach);
