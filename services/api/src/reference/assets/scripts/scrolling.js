/** Lets the keyboard reach what scrolls by itself, and only while it does: not every browser does so on its own. */
export function enableScrolling(page) {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute('tabindex');
    }
  });
  for (const area of page.querySelectorAll('.scrolls')) observer.observe(area);
}
