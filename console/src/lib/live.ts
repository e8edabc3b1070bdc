/**
 * Server-sent events: what changed on the server is fetched again, without a reload. Only a tab
 * that is looked at listens: browsers share six connections among all tabs of one address.
 */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { adminUrl } from './api.ts'

const LIVE_TOPICS = ['balance', 'tasks', 'deliveries', 'usage'] as const
export type LiveTopic = (typeof LIVE_TOPICS)[number]

/** Many things can happen in a moment; they are fetched once. */
const GATHER_MS = 400
/** After a refusal, which browsers take as the end. */
const AGAIN_MS = 30_000

/** Listens for as long as the component lives and its tab is seen. */
export function useLiveUpdates(accountId: string | undefined): void {
  const client = useQueryClient()
  useEffect(() => {
    if (accountId === undefined) return undefined
    const url = adminUrl('GET /accounts/:account_id/events', { params: { account_id: accountId } })
    return listenWhileSeen(url, (topics) => {
      void client.invalidateQueries({ predicate: ({ meta }) => concerns(meta?.live, topics) })
    })
  }, [client, accountId])
}

function concerns(live: unknown, topics: ReadonlySet<LiveTopic>): boolean {
  return Array.isArray(live) && live.some((topic) => topics.has(topic))
}

type OnNews = (topics: ReadonlySet<LiveTopic>) => void

/** Returns how to stop. */
function listenWhileSeen(url: string, onNews: OnNews): () => void {
  let stop: (() => void) | undefined
  let hasListened = false
  // Nobody told what happened in between. The first time, what is shown was just read.
  const onOpen = () => {
    if (hasListened) onNews(new Set(LIVE_TOPICS))
    hasListened = true
  }
  const follow = () => {
    const isSeen = document.visibilityState === 'visible'
    if (isSeen) stop ??= listen(url, onNews, onOpen)
    else {
      stop?.()
      stop = undefined
    }
  }
  follow()
  document.addEventListener('visibilitychange', follow)
  return () => {
    document.removeEventListener('visibilitychange', follow)
    stop?.()
  }
}

function listen(url: string, onNews: OnNews, onOpen: () => void): () => void {
  const happened = new Set<LiveTopic>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let again: ReturnType<typeof setTimeout> | undefined
  let source = open()

  function open(): EventSource {
    const opened = new EventSource(url)
    opened.addEventListener('open', onOpen)
    for (const topic of LIVE_TOPICS) opened.addEventListener(topic, () => gather(topic))
    opened.addEventListener('error', () => {
      // What breaks is opened again by the browser; what was refused is not.
      if (opened.readyState !== EventSource.CLOSED) return
      again = setTimeout(() => {
        source = open()
      }, AGAIN_MS)
    })
    return opened
  }

  function gather(topic: LiveTopic): void {
    happened.add(topic)
    timer ??= setTimeout(() => {
      timer = undefined
      onNews(new Set(happened))
      happened.clear()
    }, GATHER_MS)
  }

  return () => {
    source.close()
    clearTimeout(timer)
    clearTimeout(again)
  }
}
