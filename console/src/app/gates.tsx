/**
 * Requirements of a page wrap its route, never its URL: while the next page loads,
 * the address is already the next one's and the page still the one before.
 */
import { Outlet } from '@tanstack/react-router'
import { useSession } from '../lib/session.tsx'
import { NotFound } from './fallbacks.tsx'
import { NoAccount } from './no-account.tsx'

/** Pages of an account, which need one to be chosen. */
export function AccountGate() {
  const { account } = useSession()
  return account ? <Outlet /> : <NoAccount />
}

/** Pages that are for operators, and nobody else's to know of. */
export function OperatorGate() {
  const { session } = useSession()
  return session.user.operator ? <Outlet /> : <NotFound />
}
