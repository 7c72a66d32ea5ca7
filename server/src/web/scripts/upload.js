// Takes a picture that is dropped on the form or pasted into it, and shows the progress of the upload. If the upload
// is refused, the form is sent again by the browser, which shows the page with the reasons.
for (const form of document.querySelectorAll('form[data-upload]')) {
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
  form.addEventListener('paste', event => {
    if (event.clipboardData.files.length > 0) input.files = event.clipboardData.files;
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
      else form.submit();
    });
    request.addEventListener('error', () => form.submit());
    request.open('POST', form.action);
    progress.hidden = false;
    progress.value = 0;
    for (const button of form.querySelectorAll('button')) button.disabled = true;
    request.send(new FormData(form));
  });
}
