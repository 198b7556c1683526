/** Lets the keyboard reach what scrolls by itself, and only while it does: not every browser does so on its own. */
export function enableScrolling(page) {
  const areas = [...page.querySelectorAll('.scrolls')];
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) makeReachable(target);
  });
  for (const area of areas) {
    makeReachable(area);
    observer.observe(area);
  }
}

function makeReachable(area) {
  if (area.scrollWidth > area.clientWidth || area.scrollHeight > area.clientHeight) area.tabIndex = 0;
  else area.removeAttribute('tabindex');
}
