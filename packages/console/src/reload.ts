// After a deployment, a file that the page names may be gone: loads the page again, once.
addEventListener(
  'error',
  ({ target }) => {
    if (!(target instanceof Element) || !target.matches('script, link') || history.state?.reloaded) return;
    history.replaceState({ ...history.state, reloaded: true }, '');
    location.reload();
  },
  true,
);
