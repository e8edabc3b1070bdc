/** Connections to vendors that nothing is sent on: they end before servers usually end them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { createDispatcher } from '../../../server/api/app/open-outbound.ts'
import { startServer } from '../../support/servers/local-server.ts'

/** What uvicorn and Node's own server keep an idle connection for. */
const SERVERS_KEEP_MS = 5_000

test('an idle connection is left before a vendor would close it', async (t) => {
  const vendor = await startServer((_request, response) => response.end('{}'))
  vendor.server.keepAliveTimeout = 0
  const upstream = { connectTimeoutMs: 10_000, connectionsMax: 4 }
  const dispatcher = createDispatcher({ upstream } as Parameters<typeof createDispatcher>[0])
  t.after(async () => {
    await dispatcher.destroy()
    await vendor.stop()
  })
  const connected = once(vendor.server, 'connection') as Promise<[Socket]>
  const request = { origin: vendor.url, path: '/', method: 'POST', body: '{}' } as const
  await (await dispatcher.request(request)).body.dump()
  const [socket] = await connected
  const idleAt = performance.now()
  await once(socket, 'close')
  const idleMs = performance.now() - idleAt
  assert.ok(idleMs < SERVERS_KEEP_MS, `it was kept for ${idleMs} ms`)
})
