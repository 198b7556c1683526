import { useAction, useCall } from '../api/query.ts';
import type { Webhook } from '../api/types.ts';
import { timeOf } from '../format.ts';
import { m } from '../messages.ts';
import { Confirm, Field, TimeField, textOf } from '../ui/form.tsx';
import { ProblemNotice } from '../ui/page.tsx';
import { Button, Text, When } from '../ui/text.tsx';

interface PauseProps {
  webhook: Webhook;
  changed: () => void;
}

/** Asks until when a webhook waits. */
export function Pause({ webhook, changed, close }: PauseProps & { close: () => void }) {
  const call = useCall();
  const pause = useAction(async (fields: FormData) => {
    const reason = textOf(fields, 'reason');
    const body = { resume_at: timeOf(textOf(fields, 'resume_at')), ...(reason !== '' && { reason }) };
    await call('POST', `/v1/webhooks/${webhook.id}/pause`, body);
    close();
    changed();
  });
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  return (
    <Confirm
      title={m.webhooks.pause}
      text={m.webhooks.pauseText}
      action={m.webhooks.pause}
      safe
      {...pause}
      onConfirm={pause.run}
      onClose={close}
    >
      <TimeField label={m.webhooks.resumeAt} name="resume_at" required at={tomorrow} />
      <Field label={m.webhooks.reason} name="reason" maxLength={200} />
    </Confirm>
  );
}

/** Says that a webhook is paused, and ends the pause. */
export function Paused({ webhook, changed, readOnly }: PauseProps & { readOnly: boolean }) {
  const call = useCall();
  const resume = useAction(async () => {
    await call('POST', `/v1/webhooks/${webhook.id}/resume`);
    changed();
  });
  const { paused } = webhook;
  if (!paused) return null;
  return (
    <div class="notice">
      <p>
        <strong>{m.webhooks.pausedUntil}</strong> <When at={paused.resume_at} />
        {paused.reason && (
          <>
            {' · '}
            <Text of={paused.reason} />
          </>
        )}
      </p>
      {resume.problem && <ProblemNotice problem={resume.problem} />}
      {!readOnly && (
        <Button kind="primary" disabled={resume.busy} onClick={() => resume.run()}>
          {m.webhooks.resume}
        </Button>
      )}
    </div>
  );
}
