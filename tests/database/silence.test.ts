/** How long a server may leave a ping without an answer before it counts as silent. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Sql } from 'postgres'
import { watchSilence } from '../../server/database/connection/silence.ts'

type Ping = PromiseWithResolvers<unknown>

/** A watch whose pings and clock the test holds. */
function watch(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const pings: Ping[] = []
  let silences = 0
  const open = () => {
    const sql = () => {
      const ping = Promise.withResolvers<unknown>()
      pings.push(ping)
      return ping.promise
    }
    return Object.assign(sql, { end: async () => undefined }) as unknown as Sql
  }
  const watched = watchSilence(open, () => {
    silences += 1
  })
  t.after(() => watched.stop())
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      t.mock.timers.tick(250)
      await settle()
    }
  }
  return {
    pass,
    silences: () => silences,
    /** The next ping, once it is sent. */
    async ping(): Promise<Ping> {
      const count = pings.length
      watched.touch()
      await pass(500)
      assert.equal(pings.length, count + 1)
      return pings.at(-1) ?? assert.fail()
    },
    async answer(ping: Ping) {
      ping.resolve([])
      await settle()
    },
    async refuse(ping: Ping, code: string) {
      ping.reject(Object.assign(new Error(code), { code }))
      await settle()
    },
  }
}

test('a server that is slow to admit the first ping is not silent', async (t) => {
  const { pass, silences, ping, answer } = watch(t)
  const first = await ping()
  await pass(2_000)
  assert.equal(silences(), 0)
  await answer(first)
  await pass(5_000)
  assert.equal(silences(), 0)
})

test('one that leaves a later ping without an answer is silent after 1.5 seconds', async (t) => {
  const { pass, silences, ping, answer } = watch(t)
  await answer(await ping())
  await ping()
  await pass(1_250)
  assert.equal(silences(), 0)
  await pass(250)
  assert.equal(silences(), 1)
})

test('one that admits nobody for the whole time is silent, one that refuses is not', async (t) => {
  const { silences, ping, refuse } = watch(t)
  await refuse(await ping(), 'ECONNREFUSED')
  assert.equal(silences(), 0)
  await refuse(await ping(), 'CONNECT_TIMEOUT')
  assert.equal(silences(), 1)
})
