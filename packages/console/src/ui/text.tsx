import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { fromNow, inUtc, timeParts, visible } from '../format.ts';
import { m } from '../messages.ts';
import { useStore } from '../store.ts';

/** Untrusted text: isolated from the direction of the page, and without deceptive characters. */
export const Text = ({ of }: { of: string }) => <bdi>{visible(of)}</bdi>;

/** A time with its offset; how long ago it was shows on hover and to screen readers. */
export function When({ at, none = '–' }: { at: string | null | undefined; none?: string }) {
  const utc = useStore(inUtc);
  if (!at) return <span class="muted">{none}</span>;
  const { time, offset } = timeParts(at, utc);
  return (
    <time dateTime={at} title={`${fromNow(at)} (${at})`} class="when">
      {time} <span class="offset">{offset}</span>
    </time>
  );
}

/** The current time, updated each second, for countdowns. */
export function useNow(everyMs = 1000): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

interface ButtonProps {
  kind?: 'primary' | 'danger' | 'menu';
  type?: 'submit';
  disabled?: boolean;
  onClick?: () => void;
  'aria-pressed'?: boolean;
  'aria-expanded'?: boolean;
  children: ComponentChildren;
}

/** Disabled for assistive technology and for clicks. It keeps the focus, which `disabled` would lose. */
export const Button = ({ kind, disabled, onClick, ...rest }: ButtonProps) => (
  <button
    type="button"
    class={kind ? `button ${kind}` : 'button'}
    aria-disabled={disabled}
    onClick={disabled ? (event) => event.preventDefault() : onClick}
    {...rest}
  />
);

const tones: Record<string, string> = {
  healthy: 'good',
  succeeded: 'good',
  completed: 'good',
  ok: 'good',
  failing: 'bad',
  failed: 'bad',
  degraded: 'warn',
  pending: 'warn',
  paused: 'warn',
  running: 'warn',
};

/** A state by colour, shape and word. */
export function State({ of, names }: { of: string; names: Record<string, string> }) {
  return <span class={`state ${tones[of] ?? 'off'}`}>{names[of] ?? visible(of)}</span>;
}

/** An id in full; copying takes one key. */
export function Id({ value, href }: { value: string; href?: string }) {
  return (
    <span class="id">
      {href === undefined ? <code>{visible(value)}</code> : <a href={href}>{<code>{visible(value)}</code>}</a>}
      <Copy text={value} name={value} />
    </span>
  );
}

/** Copies a text, and says that it did. */
export function Copy({ text, name, children }: { text: string; name?: string; children?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const label = children ?? m.actions.copy;
  return (
    <button
      type="button"
      class={children ? 'button' : 'copy'}
      aria-label={name ? `${label} ${name}` : undefined}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      <span aria-live="polite">{copied ? m.actions.copied : label}</span>
    </button>
  );
}

/** Text of a program or untrusted text, unchanged except for deceptive characters. */
export function Code({ children, label, copy }: { children: string; label: string; copy?: string }) {
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <figure tabIndex={0} aria-label={label}>
        <pre>
          <code>{visible(children)}</code>
        </pre>
      </figure>
      <Copy text={copy ?? children} name={label} />
    </div>
  );
}
