/** Streams of events over a real socket: sessions that end, and the last viewer leaving. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Sql } from 'postgres'
import { createLive } from '../../server/api/admin/live/live.ts'
import type { LiveRow } from '../../server/api/admin/live/live-store.ts'
import { createStreams, type Streams } from '../../server/api/admin/live/streams.ts'
import { createContext } from '../../server/base/http/context.ts'
import { testMemory } from '../support/memory.ts'
import { startServer } from '../support/servers/local-server.ts'
import { within } from '../support/until.ts'

const ROUTE = {
  path: '/events',
  pattern: '/events',
  query: new URLSearchParams(),
  params: {},
  envelope: 'flat',
} as const

/** Every request becomes a viewer of one account; `mayStay` is asked of each. */
async function serve(t: TestContext, mayStay: () => Promise<boolean>) {
  const left = Promise.withResolvers<void>()
  const streams: Streams = createStreams(left.resolve)
  const server = await startServer((request, response) => {
    const context = createContext(request, response, ROUTE, testMemory())
    streams.open({ context, accountId: 'acct_1', sessionId: 'ses_1', mayStay })
  })
  t.after(server.stop)
  return { streams, left: left.promise, open: () => fetch(`${server.url}/events`) }
}

test('a valid session gets heartbeats; the stream of an ended one is closed', async (t) => {
  let lives = true
  const { streams, left, open } = await serve(t, async () => lives)
  const stream = await open()
  streams.heartbeat()
  streams.send('acct_1', 'event: tasks\ndata: {"open":1}\n\n')
  streams.send('acct_2', 'event: tasks\ndata: {"open":2}\n\n')
  await new Promise((resolve) => setImmediate(resolve))
  lives = false
  streams.heartbeat()
  const text = await stream.text()
  assert.match(text, /^retry: 3000\n\n/)
  assert.match(text, /: still here\n\n/)
  assert.match(text, /\{"open":1\}/)
  assert.doesNotMatch(text, /\{"open":2\}/)
  await left
  assert.deepEqual(streams.accountIds(), [])
})

test('a stream ends if its session cannot be checked', async (t) => {
  const { streams, open } = await serve(t, () => Promise.reject(new Error('no database')))
  const stream = await open()
  streams.heartbeat()
  assert.equal(await stream.text(), 'retry: 3000\n\n')
})

test('a viewer who left before the stream began is not kept', async (t) => {
  const opened = Promise.withResolvers<boolean>()
  const late = createStreams(() => undefined)
  const server = await startServer((request, response) => {
    const context = createContext(request, response, ROUTE, testMemory())
    const viewer = { context, accountId: 'acct_1', sessionId: 'ses_1', mayStay: async () => true }
    response.on('close', () => opened.resolve(late.open(viewer)))
    response.destroy()
  })
  t.after(server.stop)
  await fetch(`${server.url}/events`).catch(() => undefined)
  assert.equal(await opened.promise, false)
  assert.deepEqual(late.accountIds(), [])
})

test('each new viewer gets what has just changed, since the pages may be older', async (t) => {
  const row = {
    account_id: 'acct_1',
    available: 5_000_000_000n,
    held: 0n,
    debt: 0n,
    calls: 1,
    last_end: '2026-11-21 09:30:00.5+00',
    last_task_end: null,
    open_tasks: 0,
    tasks_mark: 0n,
    pending_deliveries: 0,
    deliveries_mark: 0n,
    last_delivery_end: null,
  } satisfies LiveRow
  const sql = async () => [row]
  const live = createLive({ sql: sql as unknown as Sql, log: { warn() {} } })
  const server = await startServer((request, response) => {
    const context = createContext(request, response, ROUTE, testMemory())
    const mayStay = async () => true
    live.connect({ context, accountId: 'acct_1', sessionId: 'ses_1', mayStay })
  })
  t.after(server.stop)
  const answers = [await fetch(`${server.url}/events`), await fetch(`${server.url}/events`)]
  const readNews = async ({ body }: Response) => {
    let text = ''
    for await (const chunk of body ?? []) {
      text += Buffer.from(chunk).toString()
      if (text.includes('event: usage')) break
    }
    return text
  }
  for (const answer of answers) {
    const text = await within(60_000, 'news', readNews(answer))
    assert.match(text, /event: balance\ndata: \{"available":"5"/)
  }
  live.stop()
})
