/** Opens the page that was requested before the sign-in. */
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'

export function useEnter(): () => Promise<void> {
  const client = useQueryClient()
  const router = useRouter()
  return async () => {
    client.clear()
    await router.navigate({ href: readNext() })
  }
}

/** Returns the path that was requested before: one of this console, never another site. */
export function readNext(): string {
  const next = new URLSearchParams(location.search).get('next') ?? '/'
  const isOwn = next.startsWith('/') && !next.startsWith('//') && !next.includes('\\')
  return isOwn ? next : '/'
}
