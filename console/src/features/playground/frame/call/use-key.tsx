/**
 * The playground's own key: valid for an hour, kept in memory only and never shown. It is created
 * for the first call, shared by all capabilities, and replaced when it has expired.
 */
import { createContext, type ReactNode, use, useMemo } from 'react'
import { callAdmin } from '../../../../lib/api.ts'
import { useAccount } from '../../../../lib/session.tsx'

/** Sends a request with the key; repeats it once with a new key if the key has expired. */
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
  let current: Promise<string> | undefined
  const createKey = async () => {
    const params = { account_id: accountId }
    return (await callAdmin('POST /accounts/:account_id/playground-key', { params })).key
  }
  return async (send) => {
    current ??= createKey()
    const key = current
    const response = await send(
      await key.catch((error: unknown) => {
        current = undefined
        throw error
      }),
    )
    if (response.status !== 401) return response
    // A request with an unknown key was not charged: repeating is safe.
    if (current === key) current = createKey()
    return send(await (current ?? createKey()))
  }
}
