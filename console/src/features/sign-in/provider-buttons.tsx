/** Buttons that lead to the providers that people can sign in with. */
import { Button, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { notifyFailed } from '../../components/state/notify.ts'
import { callAdmin } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

interface ProviderButtonsProps {
  /** Returns where the browser goes for a provider. */
  readonly onUse: (provider: string) => string | Promise<string>
  /** Offers these alone; absent: all. */
  readonly only?: readonly string[]
  readonly isDisabled?: boolean
  /** Shown where there are buttons. */
  readonly above?: ReactNode
}

/** The providers that people can sign in with; undefined until they are known. */
export function useProviders() {
  return useQuery({
    queryKey: ['sign-in providers'],
    queryFn: () => callAdmin('GET /sign-in/oidc', {}),
  }).data?.data
}

export function ProviderButtons(props: ProviderButtonsProps) {
  const { onUse, only, isDisabled = false, above } = props
  const t = useMessages(messages)
  const [busy, setBusy] = useState<string>()
  const offered = (useProviders() ?? []).filter(({ id }) => only?.includes(id) ?? true)
  if (offered.length === 0) return null
  const go = async (id: string) => {
    setBusy(id)
    try {
      window.location.assign(await onUse(id))
    } catch (error) {
      setBusy(undefined)
      notifyFailed(error)
    }
  }
  return (
    <Stack gap="xs" mt="sm">
      {above}
      {offered.map(({ id, name }) => (
        <Button
          key={id}
          variant="default"
          fullWidth
          loading={busy === id}
          disabled={isDisabled}
          onClick={() => void go(id)}
        >
          {t('withProvider', { name })}
        </Button>
      ))}
    </Stack>
  )
}

/** As the gateway takes it. */
const RETURNED = /^\/(?![/\\])[\w\-./?=&%~+*'(),:;@!$]{0,1999}$/

/** Returns the page to come back to: the first one in place of an address that is not taken. */
export function toReturn(path: string): string {
  return RETURNED.test(path) ? path : '/'
}

/** Returns the address that begins a sign-in, and comes back to `next`. */
export function startAddress(provider: string, next: string, more: object = {}): string {
  const query = new URLSearchParams({ return_to: toReturn(next), ...more })
  return `/admin/v1/sign-in/oidc/${encodeURIComponent(provider)}?${query}`
}
