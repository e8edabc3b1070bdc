/** Server-sent events: what changed on the server is fetched again, without a reload. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { adminUrl } from './api.ts'

const LIVE_TOPICS = ['balance', 'tasks', 'deliveries', 'usage'] as const
export type LiveTopic = (typeof LIVE_TOPICS)[number]

/** Many things can happen in a moment; they are fetched once. */
const GATHER_MS = 400

/** Listens for as long as the component lives. A stream that breaks is opened again. */
export function useLiveUpdates(accountId: string | undefined): void {
  const client = useQueryClient()
  useEffect(() => {
    if (accountId === undefined) return undefined
    const source = new EventSource(
      adminUrl('GET /accounts/:account_id/events', { params: { account_id: accountId } }),
    )
    const happened = new Set<LiveTopic>()
    let timer: ReturnType<typeof setTimeout> | undefined
    const refetch = () => {
      timer = undefined
      const topics = new Set(happened)
      happened.clear()
      void client.invalidateQueries({
        predicate: ({ meta }) => listens(meta?.live, topics),
      })
    }
    for (const topic of LIVE_TOPICS) {
      source.addEventListener(topic, () => {
        happened.add(topic)
        timer ??= setTimeout(refetch, GATHER_MS)
      })
    }
    return () => {
      source.close()
      clearTimeout(timer)
    }
  }, [client, accountId])
}

function listens(live: unknown, topics: ReadonlySet<LiveTopic>): boolean {
  return Array.isArray(live) && live.some((topic) => topics.has(topic))
}
