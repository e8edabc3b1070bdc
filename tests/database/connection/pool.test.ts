/** How statements share the connections of a client. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Pool } from '../../../server/base/database/connection/pool.ts'
import type {
  ClientQuery,
  DatabaseSession,
} from '../../../server/base/database/connection/session.ts'

/** A connection whose statements end when the test says so. */
class FakeSession {
  load = 0
  isIdle = false
  isStuck = false
  isClosed = false
  readonly running: (() => void)[] = []
  readonly names: unknown[] = []

  run(statement: ClientQuery, onEnd: () => void): void {
    this.names.push((statement as { readonly name?: unknown }).name)
    this.load += 1
    this.running.push(() => {
      this.load -= 1
      onEnd()
    })
  }

  begin(_mode: string, _work: unknown, onEnd: () => void): Promise<unknown> {
    this.load = Number.POSITIVE_INFINITY
    return new Promise((resolve) => {
      this.running.push(() => {
        this.load = 0
        resolve('done')
        onEnd()
      })
    })
  }

  isIdleFor = () => this.isIdle
  isOverdue = () => this.isStuck

  async close(): Promise<void> {
    this.isClosed = true
  }
}

interface Opening {
  readonly admit: () => Promise<FakeSession>
  readonly refuse: () => Promise<void>
}

function stage(t: TestContext, size = 3, atOnce = 1) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const openings: Opening[] = []
  const rejected: unknown[] = []
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  const pool = new Pool({
    size,
    atOnce: () => atOnce,
    open: () => {
      const { promise, resolve, reject } = Promise.withResolvers<DatabaseSession>()
      openings.push({
        async admit() {
          const session = new FakeSession()
          resolve(session as unknown as DatabaseSession)
          await settle()
          return session
        },
        async refuse() {
          reject(new Error('refused'))
          await settle()
        },
      })
      return promise
    },
  })
  const ask = () => {
    const reject = (error: unknown) => rejected.push(error)
    pool.run({ reject } as unknown as ClientQuery)
  }
  const askAs = (name: string, isBackground = false) => {
    const statement = { reject: () => undefined, name } as unknown as ClientQuery
    if (isBackground) pool.runInBackground(statement)
    else pool.run(statement)
  }
  t.after(() => pool.end(0))
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms)
    await settle()
  }
  return { pool, openings, rejected, ask, askAs, pass, settle }
}

test('many statements at once open one connection after another, up to the size', async (t) => {
  const { openings, ask } = stage(t)
  for (let statement = 0; statement < 500; statement += 1) ask()
  assert.equal(openings.length, 1)
  await openings[0]?.admit()
  assert.equal(openings.length, 2)
  await openings[1]?.admit()
  const third = await openings[2]?.admit()
  assert.equal(openings.length, 3)
  assert.ok((third?.running.length ?? 0) > 1, 'statements follow others where no more come')
})

test('a statement takes the connection that is free first', async (t) => {
  const { openings, ask, settle } = stage(t)
  ask()
  const first = await openings[0]?.admit()
  ask()
  assert.equal(openings.length, 2)
  assert.equal(first?.running.length, 1)
  first?.running.shift()?.()
  await settle()
  assert.equal(first?.running.length, 1, 'it did not wait for its own')
})

test('while a connection takes long to open a few statements follow others', async (t) => {
  const { openings, ask, pass } = stage(t)
  ask()
  const first = await openings[0]?.admit()
  for (let statement = 0; statement < 10; statement += 1) ask()
  assert.equal(first?.running.length, 1)
  await pass(100)
  assert.equal(first?.running.length, 4)
})

test('a full server costs no statement while there is a connection, and is not asked again at once', async (t) => {
  const { openings, rejected, ask } = stage(t)
  ask()
  const first = await openings[0]?.admit()
  ask()
  await openings[1]?.refuse()
  for (let statement = 0; statement < 50; statement += 1) ask()
  assert.equal(first?.running.length, 52)
  assert.equal(openings.length, 2)
  assert.deepEqual(rejected, [])
})

test('without any connection what waits is rejected, and the next statement tries again', async (t) => {
  const { openings, rejected, ask } = stage(t)
  for (let statement = 0; statement < 50; statement += 1) ask()
  await openings[0]?.refuse()
  assert.equal(rejected.length, 50)
  ask()
  assert.equal(openings.length, 2)
})

test('a transaction has its connection alone', async (t) => {
  const { pool, openings, ask, settle } = stage(t, 1)
  const work = pool.begin('', () => undefined)
  ask()
  const first = await openings[0]?.admit()
  assert.equal(first?.running.length, 1)
  const again = pool.begin('', () => undefined)
  first?.running.shift()?.()
  assert.equal(await work, 'done')
  assert.equal(first?.running.length, 1, 'the statement')
  first?.running.shift()?.()
  await settle()
  first?.running.shift()?.()
  assert.equal(await again, 'done')
})

test('idle connections are given back but for two, and stuck ones are cut off', async (t) => {
  const { pool, openings, ask, pass, settle } = stage(t)
  for (let statement = 0; statement < 5; statement += 1) ask()
  const sessions: FakeSession[] = []
  for (let index = 0; index < 3; index += 1) {
    const session = await openings[index]?.admit()
    if (session) sessions.push(session)
  }
  for (const session of sessions) session.isIdle = true
  await pass(1_000)
  assert.deepEqual(
    sessions.map(({ isClosed }) => isClosed),
    [true, false, false],
  )
  const [, second, third] = sessions
  if (second) second.isStuck = true
  await pass(1_000)
  assert.equal(second?.isClosed, true)
  assert.equal(third?.isClosed, false)
  pool.drop(new Error('silent'))
  await settle()
  assert.equal(third?.isClosed, true)
})

test('the end refuses new statements and waits for those before', async (t) => {
  const { pool, openings, rejected, ask, settle } = stage(t, 1)
  ask()
  const ended = pool.end(5)
  ask()
  assert.equal(rejected.length, 1)
  const first = await openings[0]?.admit()
  assert.equal(first?.running.length, 1)
  await ended
  await settle()
  assert.equal(first?.isClosed, true)
})

test('over a slow network a few connections are opened side by side, and no more', async (t) => {
  const { openings, ask } = stage(t, 4, 3)
  ask()
  assert.equal(openings.length, 1, 'one statement needs one')
  for (let statement = 0; statement < 50; statement += 1) ask()
  assert.equal(openings.length, 3)
  await openings[1]?.admit()
  assert.equal(openings.length, 4, 'the size is kept while others are under way')
  await openings[0]?.admit()
  await openings[2]?.admit()
  await openings[3]?.admit()
  assert.equal(openings.length, 4)
})

test('over a slow network statements follow others at once', async (t) => {
  const { openings, ask } = stage(t, 4, 3)
  ask()
  const session = await openings[0]?.admit()
  for (let statement = 0; statement < 5; statement += 1) ask()
  assert.equal(session?.running.length, 6)
  assert.equal(openings.length, 1)
})

test('a connection that is refused leaves what waits to another that is under way', async (t) => {
  const { openings, rejected, ask } = stage(t, 4, 3)
  for (let statement = 0; statement < 5; statement += 1) ask()
  await openings[0]?.refuse()
  assert.deepEqual(rejected, [])
  const session = await openings[1]?.admit()
  assert.ok(session && session.running.length > 0)
})

test('a server that is back is connected to at once, where statements were rejected', async (t) => {
  const { pool, openings, ask, settle } = stage(t)
  pool.welcome()
  assert.equal(openings.length, 0, 'nobody has asked')
  ask()
  await openings[0]?.refuse()
  ask()
  await openings[1]?.refuse()
  pool.welcome()
  assert.equal(openings.length, 4)
  const session = await openings[2]?.admit()
  pool.welcome()
  assert.equal(openings.length, 4, 'once is enough')
  // Another one is not put off by the refusals of before.
  await openings[3]?.admit()
  for (let statement = 0; statement < 3; statement += 1) ask()
  await settle()
  assert.equal(openings.length, 5)
  assert.equal(session?.running.length, 1)
})

test('background work that waited for a server lets calls go first again', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const { openings, askAs, settle } = stage(t, 1)
  for (const name of ['one', 'two']) askAs(name, true)
  nowMs += 20_000
  askAs('call')
  const session = await openings[0]?.admit()
  await settle()
  assert.deepEqual(session?.names, ['call', 'one', 'two'])
})

test('statements of calls go before those of background work, which still have their turn', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const { openings, askAs, settle } = stage(t, 2)
  askAs('first')
  const session = await openings[0]?.admit()
  askAs('background', true)
  nowMs += 10
  askAs('call')
  nowMs += 1_100
  askAs('late call')
  const next = async () => {
    session?.running.shift()?.()
    await settle()
  }
  await next()
  await next()
  await next()
  await next()
  assert.deepEqual(session?.names, ['first', 'call', 'background', 'late call'])
})
