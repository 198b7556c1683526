import type { ComponentChildren, TargetedSubmitEvent } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { Problem } from '../api/client.ts';
import { fieldTime, inUtc } from '../format.ts';
import { m } from '../messages.ts';
import { useStore } from '../store.ts';
import { ProblemNotice } from './page.tsx';
import { Button, Code } from './text.tsx';

interface FieldProps {
  label: string;
  hint?: string;
  name: string;
  type?: 'text' | 'url' | 'number' | 'search' | 'month' | 'datetime-local';
  defaultValue?: string | number;
  placeholder?: string;
  required?: boolean;
  disabled?: boolean;
  pattern?: string;
  /** Says what fits the pattern. */
  title?: string;
  maxLength?: number;
  min?: number;
  max?: number;
  step?: number | 'any';
}

/** A labelled field of one line. */
export function Field({ label, hint, ...input }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} autocomplete="off" spellcheck={false} {...(input as object)} {...described(id, hint)} />
      <Hint id={id} text={hint} />
    </div>
  );
}

interface TimeFieldProps {
  label: string;
  hint?: string;
  name: string;
  at: string | null;
  required?: boolean;
}

/** A field for a time, whose label names the zone. */
export function TimeField({ label, at, ...field }: TimeFieldProps) {
  const utc = useStore(inUtc);
  const zone = utc ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
  return <Field {...field} label={`${label} (${zone})`} type="datetime-local" defaultValue={fieldTime(at, utc)} />;
}

interface AreaProps {
  label: string;
  hint?: string;
  name: string;
  value?: string;
  rows?: number;
  required?: boolean;
}

/** A labelled field of many lines. */
export function Area({ label, hint, value, ...area }: AreaProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        autocomplete="off"
        spellcheck={false}
        defaultValue={value}
        {...(area as object)}
        {...described(id, hint)}
      />
      <Hint id={id} text={hint} />
    </div>
  );
}

interface SelectProps {
  label: string;
  name: string;
  value?: string;
  /** Values with their names. */
  options: readonly (readonly [string, string])[];
  onChange?: (value: string) => void;
}

export function Select({ label, name, value, options, onChange }: SelectProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        name={name}
        {...(value === undefined ? {} : { value })}
        onChange={(event) => onChange?.(event.currentTarget.value)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

interface ChoicesProps {
  legend: string;
  hint?: string;
  name: string;
  options: readonly string[];
  names?: Record<string, string>;
  chosen: readonly string[];
}

/** Boxes of which several may be ticked. */
export function Choices({ legend, hint, name, options, names = {}, chosen }: ChoicesProps) {
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {hint && <p class="hint">{hint}</p>}
      <div>
        {options.map((option) => (
          <label key={option}>
            <input type="checkbox" name={name} value={option} defaultChecked={chosen.includes(option)} />
            {names[option] ?? <code>{option}</code>}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

const described = (id: string, hint: string | undefined) => (hint ? { 'aria-describedby': `${id}-hint` } : {});

const Hint = ({ id, text }: { id: string; text: string | undefined }) =>
  text ? (
    <p id={`${id}-hint`} class="hint">
      {text}
    </p>
  ) : null;

interface FormProps {
  label: string;
  /** The fields of the form by name; a name with several values holds them in order. */
  onSubmit: (fields: FormData) => void;
  children: ComponentChildren;
  class?: string;
}

export function Form({ label, onSubmit, children, class: style = 'form' }: FormProps) {
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <form aria-label={label} class={style} onSubmit={submit}>
      {children}
    </form>
  );
}

export const textOf = (fields: FormData, name: string) => textsOf(fields, name)[0]?.trim() ?? '';
export const textsOf = (fields: FormData, name: string) =>
  fields.getAll(name).filter((value) => typeof value === 'string');

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** A dialog of the browser's own: it keeps the focus, and Escape closes it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement as HTMLElement;
    dialog.current?.showModal();
    // Until the dialog has left the page, nothing behind it takes the focus.
    return () => queueMicrotask(() => opener.focus());
  }, []);
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  text: string | undefined;
  /** The button that confirms. */
  action: string;
  problem: Problem | undefined;
  busy: boolean;
  onConfirm: (fields: FormData) => void;
  onClose: () => void;
  children?: ComponentChildren;
  safe?: boolean;
}

export function Confirm({ title, text, action, problem, busy, onConfirm, onClose, children, safe }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {text && <p>{text}</p>}
      <Form label={title} onSubmit={onConfirm}>
        {children}
        {problem && <ProblemNotice problem={problem} />}
        <div class="buttons">
          <Button type="submit" kind={safe ? 'primary' : 'danger'} disabled={busy}>
            {action}
          </Button>
          <Button onClick={onClose}>{m.actions.cancel}</Button>
        </div>
      </Form>
    </Dialog>
  );
}

/** A secret that no later answer shows. */
export function SecretOnce({ label, text, secret }: { label: string; text: string; secret: string }) {
  return (
    <div class="notice secret" role="status">
      <strong>{label}</strong>
      <p>{text}</p>
      <Code label={label}>{secret}</Code>
    </div>
  );
}
