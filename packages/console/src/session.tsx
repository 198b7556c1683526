import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Session } from './api/types.ts';
import { m } from './messages.ts';

const context = createContext<Session | undefined>(undefined);
export const SessionProvider = context.Provider;

export function useSession(): Session {
  const session = useContext(context);
  if (!session) throw new Error('A page outside a session');
  return session;
}

/** Whether the session has the scope. `*` does not contain the scopes of keys. */
export const hasScope = ({ scopes }: Session, scope: string) =>
  scopes.includes(scope) || (scopes.includes('*') && !scope.startsWith('keys:'));

/** Why this session may not change things of this scope; undefined if it may. */
export function useReadOnly(scope: string): string | undefined {
  const session = useSession();
  if (session.organization.plan === 'starter') return m.states.plan;
  return hasScope(session, scope) ? undefined : m.states.notAllowed(scope);
}

/** True if the server shows this session neither data nor answers. */
export const useHidesBodies = () => !useSession().show_bodies;
