/**
 * Requirements of a page, attached to its route and not to the URL: while the next page loads, the
 * URL is already the next one's.
 */
import { Outlet } from '@tanstack/react-router'
import { useSession } from '../lib/session.tsx'
import { NotFound } from './fallbacks.tsx'
import { NoAccount } from './no-account.tsx'

/** Wraps pages that need a selected account. */
export function AccountGate() {
  const { account } = useSession()
  return account ? <Outlet /> : <NoAccount />
}

/** Wraps operator pages; for others they do not exist. */
export function OperatorGate() {
  const { session } = useSession()
  return session.user.operator ? <Outlet /> : <NotFound />
}
