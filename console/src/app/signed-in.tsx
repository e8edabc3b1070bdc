/** The gate: without a session to the sign-in page, with one into the shell. */
import { Center, Loader } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Navigate, useLocation } from '@tanstack/react-router'
import { ErrorState } from '../components/error-state.tsx'
import { StepUpDialog } from '../features/sign-in/step-up-dialog.tsx'
import { ApiError } from '../lib/api.ts'
import { SessionProvider } from '../lib/session.tsx'
import { fetchSession } from '../lib/session-api.ts'
import { Shell } from './shell.tsx'

export function SignedIn() {
  const session = useQuery({
    queryKey: ['GET /session'],
    queryFn: ({ signal }) => fetchSession(signal),
    staleTime: 60_000,
  })
  const { href } = useLocation()
  if (session.data) {
    return (
      <SessionProvider session={session.data}>
        <Shell />
        <StepUpDialog />
      </SessionProvider>
    )
  }
  if (session.error instanceof ApiError && session.error.status === 401) {
    return <Navigate to="/sign-in" search={{ next: href }} replace />
  }
  return (
    <Center mih="100dvh">
      {session.error ? (
        <ErrorState error={session.error} onRetry={() => void session.refetch()} />
      ) : (
        <Loader size="sm" />
      )}
    </Center>
  )
}
