/** The signed-in user and the account of the customer pages. */
import { useLocation } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import type { AdminAnswer } from './api.ts'

type Demo = AdminAnswer<'GET /session/start'>['demo']
type SessionAnswer = AdminAnswer<'GET /session'>

/** The roles of members, the least first. */
export const ASSIGNABLE_ROLES = ['viewer', 'billing', 'developer', 'owner'] as const
export type Role = (typeof ASSIGNABLE_ROLES)[number]

export interface Selected {
  readonly id: string
  readonly name: string
  /** True for owners and operators. */
  readonly isOwner: boolean
  /** True for those who may pay. */
  readonly mayPay: boolean
  /** True for those who may make calls, have keys, and change what calls have made. */
  readonly mayCall: boolean
  /** True if an operator who is no member sees it. */
  readonly isForeign: boolean
}

interface SessionState {
  readonly session: SessionAnswer
  /** Present if all channels are simulated. */
  readonly demo: Demo
  /** Absent for an operator who has not chosen one. */
  readonly account: Selected | undefined
  select(account: { readonly id: string; readonly name: string }): void
  /** Ends the view of a customer's account. */
  leave(): void
}

/** The fragment of the sign-in page's address after a session that has ended. */
export const ENDED = 'ended'

const SessionContext = createContext<SessionState | undefined>(undefined)
const STORED = 'tributary.account'

interface ProviderProps {
  readonly session: SessionAnswer
  readonly demo: Demo
  readonly children: ReactNode
}

export function SessionProvider({ session, demo, children }: ProviderProps) {
  const [stored, choose] = useState(readStored)
  const linked = useLinkedAccount()
  const isOther = linked !== undefined && linked !== stored?.id
  // The page of a link shows its account at once, and the pages after it stay with it.
  const chosen = useMemo(
    () => (isOther ? { id: linked, name: linked } : stored),
    [isOther, linked, stored],
  )
  useEffect(() => {
    if (!isOther) return
    // In this tab alone: the other tabs keep their choice.
    sessionStorage.setItem(STORED, JSON.stringify(chosen))
    choose(chosen)
  }, [isOther, chosen])
  const state = useMemo<SessionState>(
    () => ({
      session,
      demo,
      account: pick(session, chosen),
      select(account) {
        sessionStorage.setItem(STORED, JSON.stringify(account))
        localStorage.setItem(STORED, JSON.stringify(account))
        choose(account)
      },
      leave() {
        sessionStorage.removeItem(STORED)
        localStorage.removeItem(STORED)
        choose(undefined)
      },
    }),
    [session, demo, chosen],
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

/** Returns the account that a link to a customer page names; for operator pages it is a filter. */
function useLinkedAccount(): string | undefined {
  return useLocation({
    select: ({ pathname, search }: { pathname: string; search: object }) =>
      !isOperatorPath(pathname) && 'account' in search && search.account
        ? String(search.account)
        : undefined,
  })
}

/** `pathname` is below /console. */
export function isOperatorPath(pathname: string): boolean {
  return /^\/operator(?:\/|$)/.test(pathname)
}

/** Returns this tab's choice, else the last of any tab. */
function readStored(): Chosen {
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
  if (!member && user.operator && chosen)
    return { ...chosen, ...rightsOf('owner'), isForeign: true }
  const own = member ?? memberships[0]
  if (!own) return undefined
  return {
    id: own.account_id,
    name: own.account_name,
    ...rightsOf(user.operator ? 'owner' : own.role),
    isForeign: false,
  }
}

function rightsOf(role: Role) {
  const isOwner = role === 'owner'
  return {
    isOwner,
    mayPay: isOwner || role === 'billing',
    mayCall: isOwner || role === 'developer',
  }
}
