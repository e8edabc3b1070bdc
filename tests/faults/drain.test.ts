/**
 * A deploy fails no call: while readiness sends traffic elsewhere, calls are served; once the
 * listener is closed, kept connections are served until the streams have ended.
 */
import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { audit } from '../../server/ledger/audit/audit.ts'
import { type Stage, startStage } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const chat = (script: string, stream = false) => ({
  model: 'sim-chat',
  stream,
  messages: [{ role: 'user', content: script }],
})

/** A caller with one connection, which it keeps. */
function openCaller(stage: Stage) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = {
    authorization: `Bearer ${stage.key.key}`,
    'content-type': 'application/json',
  }
  return {
    close: () => agent.destroy(),
    async call(): Promise<{ status: number | undefined; connection: string | undefined }> {
      const url = `${stage.url}/v1/chat/completions`
      const sent = request(url, { agent, method: 'POST', headers })
      sent.end(JSON.stringify(chat('hello')))
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        sent.once('response', resolve).once('error', reject)
      })
      await text(response)
      return { status: response.statusCode, connection: response.headers.connection }
    },
  }
}

const readyz = (stage: Stage) =>
  stage.get('/readyz', { connection: 'close' }).catch(() => undefined)

test('calls are served through the delay, and on kept connections through the drain', async () => {
  const stage = await startStage({ env: { DRAIN_DELAY_SECONDS: '2' } })
  const callers = [openCaller(stage), openCaller(stage)] as const
  try {
    for (const caller of callers) {
      assert.deepEqual(await caller.call(), { status: 200, connection: 'keep-alive' })
    }
    const slow = chat('[[chunks:50]] [[chunk-delay:100]] [[tokens:50]]', true)
    const stream = await stage.post('/v1/chat/completions', slow)
    const streamed = stream.text()
    stage.gateway.signal('SIGTERM')
    await until('the end of readiness', async () => (await readyz(stage))?.status === 503)

    const fresh = openCaller(stage)
    assert.deepEqual(await fresh.call(), { status: 200, connection: 'close' }, 'a new connection')
    assert.deepEqual(await callers[0].call(), { status: 200, connection: 'close' })
    fresh.close()

    await until('a closed listener', async () => (await readyz(stage)) === undefined)
    assert.deepEqual(await callers[1].call(), { status: 200, connection: 'close' })
    assert.match(await streamed, /data: \[DONE\]\n\n$/)
    assert.deepEqual(await stage.gateway.exited, { code: 0, signal: null })
    assert.ok((await audit(stage.sql)).ok)
  } finally {
    for (const caller of callers) caller.close()
    await stage.stop()
  }
})

test('an interrupt from a terminal skips the delay', async () => {
  const stage = await startStage({ env: { DRAIN_DELAY_SECONDS: '600' } })
  try {
    stage.gateway.signal('SIGINT')
    assert.deepEqual(await stage.gateway.exited, { code: 0, signal: null })
  } finally {
    await stage.stop()
  }
})
