import { useState } from 'preact/hooks';
import { useAction, useCall, useQuery } from '../api/query.ts';
import type { ApiKey, List } from '../api/types.ts';
import { fromNow, plural } from '../format.ts';
import { m } from '../messages.ts';
import { usePlace } from '../router.ts';
import { hasScope, useReadOnly, useSession } from '../session.tsx';
import { Confirm, Dialog, SecretOnce } from '../ui/form.tsx';
import { listPath, Pager } from '../ui/list.tsx';
import { Load, Page, Panel, ProblemNotice } from '../ui/page.tsx';
import { Table } from '../ui/table.tsx';
import { Button, Text, When } from '../ui/text.tsx';
import { KeyDialog, type KeyValues } from './key-dialog.tsx';

const unusedMs = 90 * 86_400_000;

type Open = { what: 'create' } | { what: 'edit' | 'revoke' | 'rotate'; key: ApiKey } | undefined;

export function Keys() {
  const readOnly = useReadOnly('keys:write');
  const path = listPath('/keys', usePlace().query, []);
  const keys = useQuery<List<ApiKey>>(path);
  const [open, setOpen] = useState<Open>();
  const close = () => {
    setOpen(undefined);
    keys.reload();
  };
  return (
    <Page
      title={m.keys.title}
      actions={
        readOnly ? (
          <span class="muted">{readOnly}</span>
        ) : (
          <Button kind="primary" onClick={() => setOpen({ what: 'create' })}>
            {m.keys.add}
          </Button>
        )
      }
    >
      <Panel bare title={m.keys.title} request={path}>
        <Load query={keys}>
          {({ data }) => (
            <>
              <KeyTable keys={data} mayChange={!readOnly} open={setOpen} />
              <Pager of={keys} />
            </>
          )}
        </Load>
      </Panel>
      {open?.what === 'create' && <NewKey title={m.keys.add} close={close} />}
      {open?.what === 'rotate' && <NewKey title={m.keys.rotate} old={open.key} close={close} />}
      {open?.what === 'edit' && <EditKey of={open.key} close={close} />}
      {open?.what === 'revoke' && <Revoke of={open.key} close={close} />}
    </Page>
  );
}

interface KeyTableProps {
  keys: readonly ApiKey[];
  mayChange: boolean;
  open: (next: Open) => void;
}

/** A key can be revoked on every plan, also if the session may not change it. */
function KeyTable({ keys, mayChange, open }: KeyTableProps) {
  const session = useSession();
  const { scopes } = session;
  const isWithin = (key: ApiKey) => scopes.includes('*') || key.scopes.every((scope) => scopes.includes(scope));
  return (
    <Table
      label={m.keys.title}
      rows={keys}
      keyOf={({ id }) => id}
      empty={m.keys.none}
      columns={[
        {
          name: m.keys.name,
          cell: ({ name, key_prefix }) => (
            <>
              <strong>
                <Text of={name ?? '–'} />
              </strong>
              <p class="hint">
                <code>{key_prefix}…</code>
              </p>
            </>
          ),
        },
        { name: m.keys.scopes, cell: (key) => <code>{key.scopes.join(' ')}</code> },
        { name: m.keys.used, cell: (key) => <Used of={key} /> },
        { name: m.keys.allowlist, cell: (key) => <Allowlist of={key} /> },
        { name: m.keys.expires, cell: ({ expires_at }) => <Expiry at={expires_at} /> },
        ...(hasScope(session, 'keys:write')
          ? [
              {
                name: '',
                cell: (key: ApiKey) => (
                  <div class="actions">
                    {mayChange && isWithin(key) ? (
                      <>
                        <Button onClick={() => open({ what: 'edit', key })}>{m.keys.edit}</Button>
                        <Button onClick={() => open({ what: 'rotate', key })}>{m.keys.rotate}</Button>
                      </>
                    ) : (
                      mayChange && <span class="hint">{m.keys.beyond}</span>
                    )}
                    <Button onClick={() => open({ what: 'revoke', key })}>{m.keys.revoke}</Button>
                  </div>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

function Used({ of: { last_used_at, created_at, last_used_address, last_used_user_agent } }: { of: ApiKey }) {
  const isUnused = Date.now() - new Date(last_used_at ?? created_at).getTime() > unusedMs;
  return (
    <>
      <When at={last_used_at} none={m.keys.never} />
      {isUnused && <span class="state warn">{m.keys.unused}</span>}
      {last_used_address && (
        <p class="hint">
          {m.keys.from} <code>{last_used_address}</code> <Text of={last_used_user_agent ?? ''} />
        </p>
      )}
    </>
  );
}

function Allowlist({ of: { ip_allowlist, ip_allowlist_mode, outside_allowlist } }: { of: ApiKey }) {
  return (
    <>
      <code>{ip_allowlist?.join(' ') ?? m.keys.anywhere}</code>
      {ip_allowlist_mode === 'report' && ip_allowlist && (
        <p class="hint">
          {m.keys.report}: {m.keys.wouldRefuse(plural(outside_allowlist?.count ?? 0, 'request'))}{' '}
          {outside_allowlist && outside_allowlist.addresses.length > 0 && (
            <code>{outside_allowlist.addresses.slice(0, 5).join(' ')}</code>
          )}
        </p>
      )}
    </>
  );
}

function Expiry({ at }: { at: string | null }) {
  if (at === null) return <span class="muted">{m.keys.neverExpires}</span>;
  const left = new Date(at).getTime() - Date.now();
  return (
    <>
      <When at={at} />
      {left < 7 * 86_400_000 && (
        <span class={`state ${left < 0 ? 'bad' : 'warn'}`}>{left < 0 ? m.keys.expired : fromNow(at)}</span>
      )}
    </>
  );
}

/** Creates a key, which may replace another one, and shows it once. */
function NewKey({ title, old, close }: { title: string; old?: ApiKey; close: () => void }) {
  const call = useCall();
  const [created, setCreated] = useState<ApiKey>();
  const create = useAction(async (values: KeyValues) => setCreated(await call<ApiKey>('POST', '/keys', values)));
  const revoke = useAction(async () => {
    await call('DELETE', `/keys/${old?.id}`);
    close();
  });
  if (!created?.secret)
    return (
      <KeyDialog
        title={title}
        text={old && m.keys.rotateText}
        action={old ? m.keys.rotateDo : m.keys.add}
        of={old}
        save={create}
        close={close}
      />
    );
  return (
    <Dialog title={title} onClose={close}>
      <SecretOnce label={m.keys.secret} text={m.keys.secretOnce} secret={created.secret} />
      {revoke.problem && <ProblemNotice problem={revoke.problem} />}
      <div class="buttons">
        {old && (
          <Button kind="danger" disabled={revoke.busy} onClick={() => revoke.run()}>
            {m.keys.revokeOld}
          </Button>
        )}
        <Button kind="primary" onClick={close}>
          {m.webhooks.secretDone}
        </Button>
      </div>
    </Dialog>
  );
}

function EditKey({ of, close }: { of: ApiKey; close: () => void }) {
  const call = useCall();
  const save = useAction(async (values: KeyValues) => {
    await call('PATCH', `/keys/${of.id}`, values);
    close();
  });
  return <KeyDialog title={m.keys.edit} action={m.actions.save} of={of} save={save} close={close} />;
}

function Revoke({ of, close }: { of: ApiKey; close: () => void }) {
  const call = useCall();
  const revoke = useAction(async () => {
    await call('DELETE', `/keys/${of.id}`);
    close();
  });
  return (
    <Confirm
      title={`${m.keys.revoke} ${of.key_prefix}…`}
      text={m.keys.revokeText}
      action={m.keys.revoke}
      {...revoke}
      onConfirm={() => revoke.run()}
      onClose={close}
    />
  );
}
