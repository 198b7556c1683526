/** Shows a field that hides the links of the navigation in which its words do not occur. Enter follows the first link. */
export function enableFilter(page) {
  const navigation = page.querySelector('#navigation');
  const field = page.querySelector('#filter');
  const links = [...navigation.querySelectorAll('li')];
  const groups = [...navigation.querySelectorAll('section')];
  field.closest('[hidden]').hidden = false;
  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const link of links) link.hidden = !words.every((word) => textOf(link).includes(word));
    for (const group of groups) group.hidden = group.querySelector('li:not([hidden])') === null;
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') navigation.querySelector('li:not([hidden]) a')?.click();
  });
  navigation.addEventListener('click', (event) => {
    if (event.target.closest('a') !== null && navigation.matches(':popover-open')) navigation.hidePopover();
  });
}

function textOf(link) {
  return `${link.textContent} ${link.dataset.words ?? ''}`.toLowerCase();
}
