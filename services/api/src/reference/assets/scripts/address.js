/** Commands show this address when the operator names none. Then the reader's own address for this API is right. */
const exampleUrl = 'https://api.example.com';

export function showAddress(page, origin) {
  for (const code of page.querySelectorAll('code')) {
    if (code.textContent.includes(exampleUrl)) code.textContent = code.textContent.replaceAll(exampleUrl, origin);
  }
}
