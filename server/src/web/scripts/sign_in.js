// A second link in the same tab changes the fragment only and does not load the page again.
function fillIn() {
  const code = document.querySelector('input[name=code]');
  if (!code || location.hash.length < 2) return;
  code.value = location.hash.slice(1);
  history.replaceState(null, '', location.pathname + location.search);
  document.querySelector('button').focus();
}
addEventListener('hashchange', fillIn);
fillIn();
