/** Context of every page: language, appearance, the API response cache, notices. */
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import {
  MutationCache,
  QueryCache,
  QueryClient,
  QueryClientProvider,
  type QueryKey,
} from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '../lib/api.ts'
import { LanguageProvider } from '../lib/i18n.tsx'
import { noteSessionEnd } from '../lib/session-end.ts'
import { styleNonce } from '../lib/style-nonce.ts'
import { colorVariables, theme } from './theme.ts'

const FRESH_MS = 10_000
const RETRIES_MAX = 2
const SESSION = ['GET /session']

const client = new QueryClient({
  defaultOptions: {
    queries: { staleTime: FRESH_MS, retry: mayHelp, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
  queryCache: new QueryCache({ onError: (error, { queryKey }) => doubtSession(error, queryKey) }),
  mutationCache: new MutationCache({ onError: (error) => doubtSession(error) }),
})

/** Retries all failures but refusals (4xx): a restarting gateway is back soon. */
function mayHelp(failures: number, error: Error): boolean {
  const isRefusal = error instanceof ApiError && error.status >= 400 && error.status < 500
  return !isRefusal && failures < RETRIES_MAX
}

/** Asks for the session after a 401: a mistyped password and a proxy are answered so as well. */
function doubtSession(error: Error, queryKey: QueryKey = []): void {
  if (!(error instanceof ApiError) || error.status !== 401) return
  if (client.getQueryData(SESSION) === undefined) return
  if (queryKey[0] === SESSION[0]) noteSessionEnd(client)
  else void client.invalidateQueries({ queryKey: SESSION }, { cancelRefetch: false })
}

export function Providers({ children }: { readonly children: ReactNode }) {
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={colorVariables}
      getStyleNonce={styleNonce}
    >
      <LanguageProvider>
        <QueryClientProvider client={client}>
          {/* Over the header, where they hide no field of a drawer, a dialog or a page. */}
          <Notifications position="top-center" />
          {children}
        </QueryClientProvider>
      </LanguageProvider>
    </MantineProvider>
  )
}
