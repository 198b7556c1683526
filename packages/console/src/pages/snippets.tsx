import { useState } from 'preact/hooks';
import { m } from '../messages.ts';
import { Panel } from '../ui/page.tsx';
import { Button, Code } from '../ui/text.tsx';

const snippets = {
  'Node.js': `import { verifyWebhook } from '@enterprise-api/sdk/webhooks';

// rawBody: the body as it arrived, before any parser
const event = await verifyWebhook({
  headers: request.headers,
  rawBody,
  secret: process.env.WEBHOOK_SECRET,
  toleranceSeconds: 300,
});`,
  Python: `import hashlib, hmac

def is_signed(headers, raw_body: bytes, secret: str) -> bool:
    expected = hmac.new(secret.encode(), raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, headers["X-Service-Signature"])`,
  Go: `mac := hmac.New(sha256.New, []byte(secret))
mac.Write(rawBody)
expected := hex.EncodeToString(mac.Sum(nil))
signed := hmac.Equal([]byte(expected), []byte(r.Header.Get("X-Service-Signature")))`,
} as const;

/** Code to copy into a receiver, which verifies a signature. */
export function Snippets() {
  const [language, setLanguage] = useState<keyof typeof snippets>('Node.js');
  return (
    <Panel title={m.webhooks.snippet} actions={<a href="/docs/verify">{m.who.docs}</a>}>
      <div class="tabs">
        {(Object.keys(snippets) as (keyof typeof snippets)[]).map((name) => (
          <Button key={name} aria-pressed={name === language} onClick={() => setLanguage(name)}>
            {name}
          </Button>
        ))}
      </div>
      <Code label={`${m.webhooks.snippet}: ${language}`}>{snippets[language]}</Code>
    </Panel>
  );
}
