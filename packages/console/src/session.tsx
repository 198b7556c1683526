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

/** Why this session may not change things of this scope; undefined if it may. */
export function useReadOnly(scope: string): string | undefined {
  const { scopes, organization } = useSession();
  if (organization.plan === 'starter') return m.states.plan;
  return scopes.includes(scope) || (scopes.includes('*') && !scope.startsWith('keys:'))
    ? undefined
    : m.states.notAllowed(scope);
}

/** True if the server shows this session neither data nor answers. */
export const useHidesBodies = () => !useSession().show_bodies;
