/** The signed-in user and the account of the customer pages. */
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import type { AdminAnswer } from './api.ts'

type SessionAnswer = AdminAnswer<'GET /session'>

export interface Selected {
  readonly id: string
  readonly name: string
  /** True for owners and operators; members can only read. */
  readonly isOwner: boolean
}

interface SessionState {
  readonly session: SessionAnswer
  /** Absent for an operator who has not chosen one. */
  readonly account: Selected | undefined
  select(account: { readonly id: string; readonly name: string }): void
}

const SessionContext = createContext<SessionState | undefined>(undefined)
const STORED = 'tributary.account'

interface ProviderProps {
  readonly session: SessionAnswer
  readonly children: ReactNode
}

export function SessionProvider({ session, children }: ProviderProps) {
  const [chosen, choose] = useState(() => readChosen())
  const state = useMemo<SessionState>(
    () => ({
      session,
      account: pick(session, chosen),
      select(account) {
        sessionStorage.setItem(STORED, JSON.stringify(account))
        localStorage.setItem(STORED, JSON.stringify(account))
        choose(account)
      },
    }),
    [session, chosen],
  )
  return <SessionContext value={state}>{children}</SessionContext>
}

export function useSession(): SessionState {
  const state = useContext(SessionContext)
  if (!state) throw new Error('only for pages behind the sign-in')
  return state
}

/** Returns the account. Only for customer pages, which need a selected account. */
export function useAccount(): Selected {
  const { account } = useSession()
  if (!account) throw new Error('only for pages of an account')
  return account
}

type Chosen = { readonly id: string; readonly name: string } | undefined

/** Returns this tab's choice, else the last of any tab; a link may name one as `?account=`. */
function readChosen(): Chosen {
  const linked = new URLSearchParams(location.search).get('account')
  if (linked) return { id: linked, name: linked }
  const stored = sessionStorage.getItem(STORED) ?? localStorage.getItem(STORED)
  try {
    const value: unknown = stored && JSON.parse(stored)
    const isRecord = typeof value === 'object' && value !== null
    if (!isRecord || !('id' in value) || !('name' in value)) return undefined
    return { id: String(value.id), name: String(value.name) }
  } catch {
    return undefined
  }
}

function pick({ user, memberships }: SessionAnswer, chosen: Chosen): Selected | undefined {
  const member = memberships.find(({ account_id }) => account_id === chosen?.id)
  if (!member && user.operator && chosen) return { ...chosen, isOwner: true }
  const own = member ?? memberships[0]
  if (!own) return undefined
  return {
    id: own.account_id,
    name: own.account_name,
    isOwner: user.operator || own.role === 'owner',
  }
}
