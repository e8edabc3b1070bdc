/** Shows the shell to a signed-in user; redirects others to the sign-in page. */
import { Center, Loader } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { ErrorState } from '../components/state/error-state.tsx'
import { ApiError, callAdmin } from '../lib/api.ts'
import { useLanguage } from '../lib/i18n.tsx'
import { loadFiles } from '../lib/new-build.ts'
import { SessionProvider } from '../lib/session.tsx'
import { leavePage } from '../lib/session-end.ts'
import { Shell } from './frame/shell.tsx'
import { ToSignIn } from './to-sign-in.tsx'

/** Loaded on demand: no request needs it before the user acts. */
const StepUpDialog = lazy(async () => {
  const load = () => import('../features/sign-in/step-up-dialog.tsx')
  const { StepUpDialog: dialog } = await loadFiles(load)
  return { default: dialog }
})

const SignInAgain = lazy(async () => {
  const load = () => import('../features/sign-in/sign-in-again.tsx')
  const { SignInAgain: dialog } = await loadFiles(load)
  return { default: dialog }
})

/** Throws 401 without a session, which the gateway itself does not call an error here. */
async function readSession(signal: AbortSignal) {
  const { session, demo } = await callAdmin('GET /session/start', {}, signal)
  if (!session) throw new ApiError(401, 'signed_out', '')
  return { session, demo }
}

/** Leaves the page of a person once another one has signed in, in another tab of the browser. */
function useOnePerson(personId: string | undefined): void {
  const client = useQueryClient()
  const last = useRef(personId)
  useEffect(() => {
    if (personId === undefined) return
    if (last.current !== undefined && last.current !== personId) leavePage(client)
    last.current = personId
  }, [personId, client])
}

export function SignedIn() {
  const session = useQuery({
    queryKey: ['GET /session'],
    queryFn: ({ signal }) => readSession(signal),
    staleTime: 60_000,
    refetchOnWindowFocus: 'always',
  })
  useOnePerson(session.data?.session.user.id)
  const [wasSignedIn, setSignedIn] = useState(false)
  if (session.data && !wasSignedIn) setSignedIn(true)
  const { suggest } = useLanguage()
  const language = session.data?.session.user.language
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when somebody else is signed in
  useEffect(() => {
    if (language) suggest(language)
  }, [language])
  if (session.data) {
    return (
      <SessionProvider session={session.data.session} demo={session.data.demo}>
        <Shell />
        <Suspense>
          <StepUpDialog />
          <SignInAgain />
        </Suspense>
      </SessionProvider>
    )
  }
  if (session.error instanceof ApiError && session.error.status === 401) {
    return <ToSignIn isEnded={wasSignedIn} />
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
