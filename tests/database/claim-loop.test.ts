/** A loop over a queue that lives in memory: wakes, failures and the end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql } from 'postgres'
import { startClaimLoop } from '../../server/base/database/claim-loop.ts'
import { connect, inBackground } from '../../server/base/database/connection/client.ts'

const POLL_MS = 1_000

function createQueue() {
  const due: string[] = []
  const done: string[] = []
  const warnings: string[] = []
  const gates = new Map<string, PromiseWithResolvers<void>>()
  let notify = () => {}
  let broken = 0
  let isListening = true
  const sql = {
    listen: async (_channel: string, wake: () => void) => {
      notify = wake
      const unlisten = async () => {
        isListening = false
      }
      return { unlisten }
    },
  } as unknown as Sql
  const quiet = () => {}
  const log = {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (_: object, text: string) => void warnings.push(text),
  }

  async function work(row: string): Promise<void> {
    const gate = Promise.withResolvers<void>()
    gates.set(row, gate)
    await gate.promise
    done.push(row)
  }

  const loop = startClaimLoop({
    sql,
    log,
    name: 'rows',
    notifications: 'row',
    async claim(_sql, start, running) {
      if (broken > 0) {
        broken -= 1
        throw new Error('the database is away')
      }
      for (const row of due.splice(0, 1 - running)) start(work(row), { row })
    },
    readNextMs: async () => null,
  })
  return {
    loop,
    done,
    warnings,
    isListening: () => isListening,
    fail() {
      broken = 1
    },
    add(row: string) {
      due.push(row)
      notify()
    },
    /** Resolves once the row is being worked on. */
    async begun(row: string): Promise<PromiseWithResolvers<void>> {
      for (;;) {
        const gate = gates.get(row)
        if (gate) return gate
        await new Promise(setImmediate)
      }
    },
  }
}

test('the end of some work makes room for the next, failed or not', {
  timeout: 20 * POLL_MS,
}, async () => {
  const { loop, add, begun, done, warnings } = createQueue()
  add('first')
  add('second')
  add('third')
  ;(await begun('first')).resolve()
  ;(await begun('second')).reject(new Error('no'))
  ;(await begun('third')).resolve()
  await loop.stop()
  await loop.drain()
  assert.deepEqual(done, ['first', 'third'])
  assert.deepEqual(warnings, ['work failed, retried once its lease has expired'])
})

test('a claim that fails is tried again', { timeout: 20 * POLL_MS }, async () => {
  const { loop, add, begun, fail, warnings } = createQueue()
  fail()
  add('one')
  ;(await begun('one')).resolve()
  await loop.stop()
  await loop.drain()
  assert.deepEqual(warnings, ['rows wait for the database'])
})

test('after the stop nothing is claimed, and work under way is waited for', async () => {
  const { loop, add, begun, done, isListening } = createQueue()
  add('running')
  const gate = await begun('running')
  await loop.stop()
  add('late')
  assert.equal(isListening(), false)
  assert.equal(loop.size(), 1)
  const drained = loop.drain()
  gate.resolve()
  await drained
  assert.deepEqual([done, loop.size()], [['running'], 0])
})

test('its statements let those of calls go first', async () => {
  const client = connect({ url: 'postgres://nobody@127.0.0.1:1/nothing' })
  const listen = async () => ({ unlisten: async () => undefined })
  const sql = new Proxy(client, {
    get: (target, key) => (key === 'listen' ? listen : Reflect.get(target, key)),
  })
  const asked: Sql[] = []
  const polled = Promise.withResolvers<void>()
  const loop = startClaimLoop({
    sql,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    name: 'rows',
    notifications: 'row',
    claim: async (own) => void asked.push(own),
    async readNextMs(own) {
      asked.push(own)
      polled.resolve()
      return null
    },
  })
  await polled.promise
  await loop.stop()
  await client.end()
  assert.notEqual(inBackground(client), client)
  assert.ok(asked.length >= 2 && asked.every((own) => own === inBackground(client)))
})
