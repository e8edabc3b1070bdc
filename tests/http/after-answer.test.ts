/** What only counts or logs runs once the caller has the answer, or has left. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { afterAnswer, type Context } from '../../server/base/http/context.ts'
import { createListener } from '../../server/base/http/listener.ts'
import { sendJson } from '../../server/base/http/reply.ts'
import { testMemory } from '../support/memory.ts'
import { startServer } from '../support/servers/local-server.ts'
import { until } from '../support/until.ts'

/** Runs one request and returns what happened, in order. */
async function follow(
  run: (context: Context, note: (what: string) => void) => Promise<void>,
): Promise<readonly string[]> {
  const notes: string[] = []
  const note = (what: string) => void notes.push(what)
  const found = { target: 'only', path: '/', pattern: '/', params: {} }
  const listen = createListener<string>({
    match: () => ({ ...found, query: new URLSearchParams() }),
    memory: testMemory(),
    envelopeOf: () => 'nested',
    run: (_target, context) => run(context, note),
    onDone: () => note('logged'),
  })
  const server = await startServer(listen)
  try {
    await fetch(server.url).then(
      (answer) => answer.arrayBuffer(),
      () => undefined,
    )
    await until('the end of the request', () => (notes.includes('logged') ? true : undefined))
  } finally {
    await server.stop()
  }
  return notes
}

test('a count waits for the answer, and comes before the line of the log', async () => {
  const notes = await follow(async (context, note) => {
    afterAnswer(context, () => note('counted'))
    sendJson(context, 200, {})
    note('answered')
  })
  assert.deepEqual(notes, ['answered', 'counted', 'logged'])
})

test('a call that goes on after its caller has left is counted at once', async () => {
  const notes = await follow(async (context, note) => {
    context.response.destroy()
    await once(context.response, 'close')
    afterAnswer(context, () => note('counted'))
    note('settled')
  })
  assert.deepEqual(notes, ['counted', 'settled', 'logged'])
})
