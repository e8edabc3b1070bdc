/**
 * Refetches data when a server-sent event reports a change. Only a visible tab listens: browsers
 * share six connections among all tabs of one origin.
 */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { adminUrl } from './api.ts'
import { askGateway } from './connection.ts'

const LIVE_TOPICS = ['balance', 'tasks', 'deliveries', 'usage'] as const
export type LiveTopic = (typeof LIVE_TOPICS)[number]

/** Delay that combines events into one refetch. */
const GATHER_MS = 400
/** Delay before reconnecting after an error status, which browsers treat as final. */
const AGAIN_MS = 30_000

/** Listens while the component is mounted and its tab is visible. */
export function useLiveUpdates(accountId: string | undefined): void {
  const client = useQueryClient()
  useEffect(() => {
    if (accountId === undefined) return undefined
    const url = adminUrl('GET /accounts/:account_id/events', { params: { account_id: accountId } })
    return listenWhileVisible(url, (topics) => {
      void client.invalidateQueries({ predicate: ({ meta }) => isAbout(meta?.live, topics) })
    })
  }, [client, accountId])
}

function isAbout(live: unknown, topics: ReadonlySet<LiveTopic>): boolean {
  return Array.isArray(live) && live.some((topic) => topics.has(topic))
}

type OnChange = (topics: ReadonlySet<LiveTopic>) => void

/** Opens the event stream. Returns a function that closes it. */
function listenWhileVisible(url: string, onChange: OnChange): () => void {
  let stop: (() => void) | undefined
  let hasListened = false
  // Events in between were missed. On the first connection, the data is fresh.
  const onOpen = () => {
    if (hasListened) onChange(new Set(LIVE_TOPICS))
    hasListened = true
  }
  const follow = () => {
    const isVisible = document.visibilityState === 'visible'
    if (isVisible) stop ??= listen(url, onChange, onOpen)
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

function listen(url: string, onChange: OnChange, onOpen: () => void): () => void {
  const changedTopics = new Set<LiveTopic>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let again: ReturnType<typeof setTimeout> | undefined
  let source = open()

  function open(): EventSource {
    const eventSource = new EventSource(url)
    eventSource.addEventListener('open', onOpen)
    for (const topic of LIVE_TOPICS) eventSource.addEventListener(topic, () => collect(topic))
    eventSource.addEventListener('error', () => {
      void askGateway()
      // The browser reopens broken connections, but not refused ones.
      if (eventSource.readyState !== EventSource.CLOSED) return
      again = setTimeout(() => {
        source = open()
      }, AGAIN_MS)
    })
    return eventSource
  }

  function collect(topic: LiveTopic): void {
    changedTopics.add(topic)
    timer ??= setTimeout(() => {
      timer = undefined
      onChange(new Set(changedTopics))
      changedTopics.clear()
    }, GATHER_MS)
  }

  return () => {
    source.close()
    clearTimeout(timer)
    clearTimeout(again)
  }
}
