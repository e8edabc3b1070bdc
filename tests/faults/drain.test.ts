/**
 * A deploy fails no call: while readiness sends traffic elsewhere, calls are served; once the
 * listener is closed, kept connections are served until the streams have ended.
 */
import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { type Stage, startStage } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const chat = (script: string, stream = false) => ({
  model: 'sim-chat',
  stream,
  messages: [{ role: 'user', content: script }],
})

interface Answer {
  readonly status: number | undefined
  readonly connection: string | undefined
  readonly text: string
}

/** A caller with one connection, which it keeps. */
function openCaller(stage: Stage) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = {
    authorization: `Bearer ${stage.key.key}`,
    'content-type': 'application/json',
  }
  return {
    close: () => agent.destroy(),
    async call(body: object = chat('hello')): Promise<Answer> {
      const url = `${stage.url}/v1/chat/completions`
      const sent = request(url, { agent, method: 'POST', headers })
      sent.end(JSON.stringify(body))
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        sent.once('response', resolve).once('error', reject)
      })
      const { statusCode: status, headers: answered } = response
      return { status, connection: answered.connection, text: await text(response) }
    },
  }
}

function assertServed({ status, connection }: Answer, expected: string): void {
  assert.deepEqual({ status, connection }, { status: 200, connection: expected })
}

const readyz = (stage: Stage) =>
  stage.get('/readyz', { connection: 'close' }).catch(() => undefined)

// SIGHUP is what a terminal or a service manager sends.
for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
  test(`calls are served through the delay after ${signal}, until a second signal`, async () => {
    const stage = await startStage({ env: { DRAIN_DELAY_SECONDS: '600' } })
    const callers = [openCaller(stage), openCaller(stage)] as const
    const [kept, fresh] = callers
    try {
      assertServed(await kept.call(), 'keep-alive')
      stage.gateway.signal(signal)
      await until('the end of readiness', async () => (await readyz(stage))?.status === 503)
      assertServed(await fresh.call(), 'close')
      assertServed(await kept.call(), 'close')
      stage.gateway.signal('SIGTERM')
      assert.deepEqual(await stage.gateway.exited, { code: 1, signal: null })
    } finally {
      for (const caller of callers) caller.close()
      await stage.stop()
    }
  })
}

test('kept connections are served through the drain, and the last stream is not cut', async () => {
  const stage = await startStage({ env: { DRAIN_DELAY_SECONDS: '8' } })
  const callers = [openCaller(stage), openCaller(stage), openCaller(stage)] as const
  const [first, second] = callers
  try {
    for (const caller of callers) assertServed(await caller.call(), 'keep-alive')
    const before = await stage.post('/v1/chat/completions', chat('[[chunks:20]]', true))
    const ended = before.text()
    stage.gateway.signal('SIGTERM')
    assert.match(await ended, /data: \[DONE\]\n\n$/)
    await until('a closed listener', async () => (await readyz(stage)) === undefined)
    // It begins after all others have ended, lasts longer than idle connections are kept, and the
    // third connection stays idle.
    const [stream, beside] = await Promise.all([
      first.call(chat('[[tokens:100]] [[chunks:100]] [[chunk-delay:100]]', true)),
      second.call(),
    ])
    assertServed(beside, 'close')
    assertServed(stream, 'close')
    assert.match(stream.text, /data: \[DONE\]\n\n$/)
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
