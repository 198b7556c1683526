import { configuration, sessionEnded } from '../api/client.ts';
import { useAction, useCall } from '../api/query.ts';
import { m } from '../messages.ts';
import { organizationOf, returnPath, usePlace } from '../router.ts';
import { Button } from './text.tsx';

/** Says that the session is over. The page keeps its content and typed text. */
export function Ended({ alone }: { alone?: boolean }) {
  const place = usePlace();
  const call = useCall();
  // Without a new session, this counts one refusal; every query of the page would count one each.
  const again = useAction(async () => {
    await call('GET', '/session');
    sessionEnded.set(false);
  });
  const { sign_in_url } = configuration.get();
  return (
    <div class="notice bad" role="alert">
      <strong>{m.ended.title}</strong>
      <p>{sign_in_url ? m.ended.text : m.ended.noSignIn}</p>
      <div class="buttons">
        {sign_in_url && (
          <a
            class="button primary"
            target={alone ? undefined : '_blank'}
            rel="noopener"
            href={signInAddress(sign_in_url, returnPath(place))}
          >
            {m.ended.signIn}
          </a>
        )}
        {!alone && (
          <Button disabled={again.busy} onClick={() => again.run()}>
            {m.ended.reload}
          </Button>
        )}
      </div>
    </div>
  );
}

/** The owner's page, which sends its visitor back here. */
function signInAddress(page: string, returnTo: string): string {
  const address = new URL(page);
  const organization = organizationOf(returnTo);
  if (organization) address.searchParams.set('organization_id', organization);
  address.searchParams.set('return_to', returnTo);
  return address.href;
}
