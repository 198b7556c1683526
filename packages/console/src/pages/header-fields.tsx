import { useLayoutEffect, useRef } from 'preact/hooks';
import { m } from '../messages.ts';
import { Field, textsOf } from '../ui/form.tsx';
import { Button, Text } from '../ui/text.tsx';

const maxHeaders = 10;

export interface HeaderRow {
  key: number;
  name: string;
}

interface HeaderFieldsProps {
  /** The names of the headers that the webhook has. */
  names: readonly string[];
  /** Undefined: the headers stay as they are. */
  rows: readonly HeaderRow[] | undefined;
  setRows: (rows: HeaderRow[]) => void;
}

/** Names and values of headers. No answer shows the values, so a change needs all of them. */
export function HeaderFields({ names, rows, setRows }: HeaderFieldsProps) {
  const box = useRef<HTMLFieldSetElement>(null);
  // The focus moves before the next key arrives.
  useLayoutEffect(() => {
    if (rows) (nameInputs().at(-1) ?? box.current?.querySelector('button'))?.focus();
    checkNames();
  }, [rows]);
  const nameInputs = () => [...(box.current?.querySelectorAll<HTMLInputElement>('[name="header_name"]') ?? [])];
  const checkNames = () => {
    const inputs = nameInputs();
    const given = inputs.map(({ value }) => value.trim().toLowerCase());
    for (const [index, input] of inputs.entries())
      input.setCustomValidity(given.indexOf(given[index] ?? '') < index ? m.webhooks.headerTwice : '');
  };
  const keeps = rows === undefined && names.length > 0;
  const add = () =>
    setRows(
      keeps
        ? names.map((name, key) => ({ key, name }))
        : [...(rows ?? []), { key: (rows?.at(-1)?.key ?? 0) + 1, name: '' }],
    );
  return (
    <fieldset ref={box} class="choices headers" onInput={checkNames}>
      <legend>{m.webhooks.headers}</legend>
      <p class="hint">{rows && names.length > 0 ? m.webhooks.headersAll : m.webhooks.headersHint}</p>
      {keeps && (
        <p>
          <Text of={names.join(', ')} />
        </p>
      )}
      {rows && <input type="hidden" name="headers" />}
      {rows?.map((row, index) => (
        <div key={row.key} class="form inline">
          <Field
            label={m.webhooks.headerName(index + 1)}
            name="header_name"
            required
            maxLength={256}
            defaultValue={row.name}
          />
          <Field label={m.webhooks.headerValue(index + 1)} name="header_value" required maxLength={1024} />
          <Button onClick={() => setRows(rows.filter((other) => other !== row))}>
            {m.webhooks.removeHeader(index + 1)}
          </Button>
        </div>
      ))}
      <Button disabled={rows?.length === maxHeaders} onClick={add}>
        {keeps ? m.webhooks.replaceHeaders : m.webhooks.addHeader}
      </Button>
    </fieldset>
  );
}

/** Undefined if the headers stay as they are. */
export function readHeaders(fields: FormData): Record<string, string> | undefined {
  if (!fields.has('headers')) return undefined;
  const values = textsOf(fields, 'header_value');
  return Object.fromEntries(
    textsOf(fields, 'header_name').map((name, index) => [name.trim(), values[index]?.trim() ?? '']),
  );
}
