/** Opens the page that was requested before the sign-in. */
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'

export function useEnter(): () => Promise<void> {
  const client = useQueryClient()
  const router = useRouter()
  return async () => {
    client.clear()
    const next = new URLSearchParams(location.search).get('next') ?? '/'
    // Only a path of this console: never another site.
    const isOwn = next.startsWith('/') && !next.startsWith('//') && !next.includes('\\')
    await router.navigate({ href: isOwn ? next : '/' })
  }
}
