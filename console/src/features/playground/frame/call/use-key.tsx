/**
 * The playground's own key: an hour long, held in memory only and never shown. It is asked for when
 * the first call is made, shared by all capabilities, and asked for again when it has ended.
 */
import { createContext, type ReactNode, use, useMemo } from 'react'
import { callAdmin } from '../../../../lib/api.ts'
import { useAccount } from '../../../../lib/session.tsx'

/** Makes a request with the key; repeated once with a fresh one when the key has ended. */
export type WithKey = (send: (key: string) => Promise<Response>) => Promise<Response>

const KeyContext = createContext<WithKey>(() => Promise.reject(new Error('no key here')))

export function KeyProvider({ children }: { readonly children: ReactNode }) {
  const { id } = useAccount()
  const withKey = useMemo(() => keyOf(id), [id])
  return <KeyContext value={withKey}>{children}</KeyContext>
}

export function useKey(): WithKey {
  return use(KeyContext)
}

function keyOf(accountId: string): WithKey {
  let held: Promise<string> | undefined
  const take = async () => {
    const params = { account_id: accountId }
    return (await callAdmin('POST /accounts/:account_id/playground-key', { params })).key
  }
  return async (send) => {
    held ??= take()
    const key = held
    const response = await send(
      await key.catch((error: unknown) => {
        held = undefined
        throw error
      }),
    )
    if (response.status !== 401) return response
    // A key that is not known has paid for nothing: repeating is safe.
    if (held === key) held = take()
    return send(await (held ?? take()))
  }
}
