import { useState } from 'preact/hooks';
import { useAction, useCall } from '../api/query.ts';
import type { Webhook, WebhookWithSecret } from '../api/types.ts';
import { inUtc, timeParts } from '../format.ts';
import { m } from '../messages.ts';
import { navigate, to } from '../router.ts';
import { useStore } from '../store.ts';
import { Confirm, Dialog, Field, SecretOnce, textOf } from '../ui/form.tsx';
import { Button } from '../ui/text.tsx';
import { Pause } from './pause.tsx';
import { Snippets } from './snippets.tsx';

type Open = 'rotate' | 'pause' | 'disable' | 'remove' | undefined;

interface ActionsProps {
  webhook: Webhook;
  changed: () => void;
}

/** Actions on a whole webhook. Each one that could lose something asks first. */
export function WebhookActions({ webhook, changed }: ActionsProps) {
  const call = useCall();
  const path = `/v1/webhooks/${webhook.id}`;
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const switchTo = useAction(async (enabled: boolean) => {
    await call('PATCH', path, { enabled });
    close();
    changed();
  });
  const remove = useAction(async () => {
    await call('DELETE', path);
    navigate(to('/webhooks'));
  });
  return (
    <>
      <Button onClick={() => setOpen('rotate')}>{m.webhooks.rotate}</Button>
      {webhook.enabled && !webhook.paused && <Button onClick={() => setOpen('pause')}>{m.webhooks.pause}</Button>}
      {webhook.enabled ? (
        <Button onClick={() => setOpen('disable')}>{m.webhooks.disable}</Button>
      ) : (
        <Button kind="primary" disabled={switchTo.busy} onClick={() => switchTo.run(true)}>
          {m.webhooks.enable}
        </Button>
      )}
      <Button onClick={() => setOpen('remove')}>{m.webhooks.remove}</Button>
      {open === 'rotate' && <Rotate webhook={webhook} changed={changed} close={close} />}
      {open === 'pause' && <Pause webhook={webhook} changed={changed} close={close} />}
      {open === 'disable' && (
        <Confirm
          title={m.webhooks.disable}
          text={m.webhooks.disableText}
          action={m.webhooks.disable}
          {...switchTo}
          onConfirm={() => switchTo.run(false)}
          onClose={close}
        />
      )}
      {open === 'remove' && (
        <Confirm
          title={m.webhooks.remove}
          text={m.webhooks.removeText}
          action={m.webhooks.remove}
          {...remove}
          onConfirm={() => remove.run()}
          onClose={close}
        />
      )}
    </>
  );
}

function Rotate({ webhook, changed, close }: ActionsProps & { close: () => void }) {
  const call = useCall();
  const utc = useStore(inUtc);
  const [secret, setSecret] = useState<string>();
  const openUntil = webhook.previous_secret_expires_at;
  const rotate = useAction(async (fields: FormData) => {
    const overlap_seconds = Math.round(Number(textOf(fields, 'overlap')) * 3600);
    const body = { overlap_seconds, ...(openUntil && { force: true }) };
    const rotated = await call<WebhookWithSecret>('POST', `/v1/webhooks/${webhook.id}/rotate-secret`, body);
    setSecret(rotated.secret);
  });
  if (secret !== undefined) {
    const done = () => {
      close();
      changed();
    };
    return (
      <Dialog title={m.webhooks.rotate} onClose={done}>
        <SecretOnce label={m.webhooks.secretTitle} text={m.webhooks.secretOnce} secret={secret} />
        <Snippets />
        <div class="buttons">
          <Button kind="primary" onClick={done}>
            {m.webhooks.secretDone}
          </Button>
        </div>
      </Dialog>
    );
  }
  const until = openUntil ? timeParts(openUntil, utc) : undefined;
  return (
    <Confirm
      title={m.webhooks.rotate}
      text={m.webhooks.rotateText}
      action={m.webhooks.rotate}
      {...rotate}
      onConfirm={rotate.run}
      onClose={close}
    >
      {until && (
        <p class="notice bad">
          {m.webhooks.overlapOpen(`${until.time} ${until.offset}`)} {m.webhooks.rotateForce}
        </p>
      )}
      <Field
        label={m.webhooks.overlap}
        name="overlap"
        type="number"
        min={0}
        max={168}
        step="any"
        required
        defaultValue={24}
      />
    </Confirm>
  );
}
