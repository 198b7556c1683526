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

/** The navigation is longer than a screen: shows the entry of this page, on a phone when its popover opens. */
export function showCurrentPage(page) {
  const navigation = page.querySelector('#navigation');
  const entry = navigation.querySelector('[aria-current]');
  const show = () => {
    navigation.scrollTop = entry.offsetTop - 0.75 * navigation.clientHeight;
  };
  show();
  navigation.addEventListener('toggle', show);
}

function makeReachable(area) {
  if (area.scrollWidth > area.clientWidth || area.scrollHeight > area.clientHeight) area.tabIndex = 0;
  else area.removeAttribute('tabindex');
}
