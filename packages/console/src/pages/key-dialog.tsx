import type { Action } from '../api/query.ts';
import type { ApiKey } from '../api/types.ts';
import { fieldTime, inUtc, timeOf } from '../format.ts';
import { m } from '../messages.ts';
import { useSession } from '../session.tsx';
import { Area, Choices, Confirm, Field, TimeField, textOf, textsOf } from '../ui/form.tsx';

export interface KeyValues {
  name: string;
  scopes: string[];
  ip_allowlist: string[] | null;
  ip_allowlist_mode: 'enforce' | 'report';
  expires_at: string | null;
}

interface KeyDialogProps {
  title: string;
  text?: string | undefined;
  action: string;
  of?: ApiKey | undefined;
  save: Action<[KeyValues]>;
  close: () => void;
}

/** The fields of a key. It gets no scope that the session lacks. */
export function KeyDialog({ title, text, action, of, save, close }: KeyDialogProps) {
  const { scopes } = useSession();
  const offered = scopes.filter((scope) => !scope.startsWith('keys:'));
  return (
    <Confirm
      title={title}
      text={text}
      action={action}
      safe
      {...save}
      onConfirm={(fields) => save.run(read(fields, of))}
      onClose={close}
    >
      <Field label={m.keys.name} name="name" required maxLength={200} defaultValue={of?.name ?? ''} />
      <Choices legend={m.keys.scopes} name="scopes" options={offered} chosen={of?.scopes ?? []} />
      <Area
        label={m.keys.allowlist}
        name="ip_allowlist"
        hint={m.keys.allowlistHint}
        rows={3}
        value={of?.ip_allowlist?.join('\n') ?? ''}
      />
      <Choices
        legend={m.keys.report}
        name="mode"
        options={['report']}
        names={{ report: m.keys.reportHint }}
        chosen={of ? [of.ip_allowlist_mode] : []}
      />
      <TimeField label={m.keys.expires} name="expires_at" hint={m.keys.expiresHint} at={of?.expires_at ?? null} />
    </Confirm>
  );
}

function read(fields: FormData, of: ApiKey | undefined): KeyValues {
  const addresses = textOf(fields, 'ip_allowlist')
    .split(/[\s,]+/)
    .filter(Boolean);
  const expiresAt = textOf(fields, 'expires_at');
  // The field shows no seconds: a time that nobody changed must stay as it was.
  const isUnchanged = of !== undefined && expiresAt === fieldTime(of.expires_at, inUtc.get());
  return {
    name: textOf(fields, 'name'),
    scopes: textsOf(fields, 'scopes'),
    ip_allowlist: addresses.length > 0 ? addresses : null,
    ip_allowlist_mode: fields.has('mode') ? 'report' : 'enforce',
    expires_at: isUnchanged ? of.expires_at : expiresAt === '' ? null : timeOf(expiresAt),
  };
}
