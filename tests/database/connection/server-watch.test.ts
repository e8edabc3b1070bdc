/** What one process asks of a server that stands still, is gone, or is back. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Sql } from 'postgres'
import {
  type DatabaseSession,
  type Opening,
  untilLate,
} from '../../../server/base/database/connection/session.ts'
import { ServerWatch } from '../../../server/base/database/connection/watch.ts'

/**
 * A silent server answers later, a lost request is never answered; a slow one lets the watch in and
 * leaves it waiting.
 */
type State = 'up' | 'silent' | 'lost' | 'refusing' | 'slow'

/** A server whose time, answers and admission the test holds. */
class FakeServer {
  state: State = 'up'
  /** The time that each connection of the watch was given. */
  readonly attempts: number[] = []
  /** Connections of clients. */
  opened = 0
  dropped = 0
  refused = 0
  welcomed = 0
  listened = 0
  readonly watch: ServerWatch
  private readonly waiting: (() => void)[] = []
  private readonly t: TestContext
  private lose: () => void = () => undefined

  constructor(t: TestContext) {
    this.t = t
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    this.watch = new ServerWatch((opening) => this.admit(opening))
    this.watch.add({
      drop: () => {
        this.dropped += 1
      },
      refuse: () => {
        this.refused += 1
      },
      welcome: () => {
        this.welcomed += 1
      },
    })
    t.after(() => this.watch.stop())
  }

  async start(): Promise<void> {
    await this.watch.listen('news', {
      onMessage: () => undefined,
      onListening: () => {
        this.listened += 1
      },
    })
    await this.pass(0)
  }

  /** A client asks for a connection. Resolves with the code of its refusal. */
  async open(): Promise<string | undefined> {
    const open = () => {
      this.opened += 1
      return this.reply(() => ({ close: async () => undefined }) as unknown as DatabaseSession)
    }
    const opened = this.watch.open(open).then(
      () => undefined,
      ({ code }) => String(code),
    )
    await this.pass(0)
    return await opened
  }

  /** Lets time pass, with the server in use throughout. */
  async pass(milliseconds: number): Promise<void> {
    for (let passed = 0; passed <= milliseconds; passed += 50) {
      this.watch.touch()
      if (passed > 0) this.t.mock.timers.tick(50)
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** It ends every connection. */
  stop(): void {
    this.state = 'refusing'
    this.lose()
  }

  goOn(): void {
    this.state = 'up'
    for (const answer of this.waiting.splice(0)) answer()
  }

  private async admit({ timeoutMs, events }: Opening): Promise<DatabaseSession> {
    this.attempts.push(timeoutMs)
    const isSlow = this.state === 'slow'
    const letIn = new AbortController()
    if (isSlow) letIn.abort()
    if (isSlow) events?.onadmitted?.()
    const session = isSlow ? new Promise<never>(() => undefined) : this.reply(this.makeSession)
    const late = untilLate(timeoutMs, letIn.signal, new AbortController().signal).then(() => {
      throw Object.assign(new Error('late'), { code: 'CONNECT_TIMEOUT' })
    })
    const admitted = await Promise.race([session, late])
    late.catch(() => undefined)
    this.lose = () => events?.onclose?.()
    return admitted
  }

  private readonly makeSession = (): DatabaseSession => {
    const answer = () => this.reply(() => [])
    const sql = Object.assign(answer, { unsafe: answer }) as unknown as Sql
    return { sql, close: async () => undefined } as unknown as DatabaseSession
  }

  private async reply<T>(make: () => T): Promise<T> {
    if (this.state === 'refusing') throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' })
    if (this.state === 'silent') await new Promise<void>((resolve) => this.waiting.push(resolve))
    if (this.state === 'lost') await new Promise<void>(() => undefined)
    return make()
  }
}

test('a server that leaves a ping without an answer is silent after 1.5 seconds', async (t) => {
  const server = new FakeServer(t)
  await server.start()
  server.state = 'silent'
  await server.pass(1_900)
  assert.equal(server.dropped, 0, 'the ping is sent within half a second')
  await server.pass(200)
  assert.equal(server.dropped, 1)
})

test('a silent server gets few attempts, of which each has longer', async (t) => {
  const server = new FakeServer(t)
  await server.start()
  server.state = 'silent'
  await server.pass(2_100)
  server.attempts.length = 0
  await server.pass(120_000)
  // The others are made beside the last one, every three seconds, and end with it.
  const others = [13_000, 10_000, 7_000, 4_000, 1_000]
  const expected = [4_000, 1_000, 8_000, 5_000, 2_000, 16_000, ...others, 30_000]
  assert.deepEqual(server.attempts.slice(0, expected.length), expected)
  assert.equal(server.dropped, 1)
  assert.equal(server.welcomed, 0)
  server.goOn()
  await server.pass(2_500)
  assert.equal(server.welcomed, 1)
  assert.equal(await server.open(), undefined)
  assert.equal(server.listened, 2, 'what was missed is read again')
})

test('an attempt that the network has lost keeps no later one from being answered', async (t) => {
  const server = new FakeServer(t)
  await server.start()
  server.state = 'lost'
  await server.pass(40_000)
  assert.equal(server.listened, 1)
  server.state = 'up'
  await server.pass(3_000)
  assert.equal(await server.open(), undefined)
  assert.equal(server.listened, 2)
  const { length } = server.attempts
  await server.pass(10_000)
  assert.equal(server.attempts.length, length, 'none is made once one was answered')
})

test('clients of a server that admits nobody are refused at once', async (t) => {
  const server = new FakeServer(t)
  await server.start()
  server.stop()
  await server.pass(100)
  const { opened } = server
  for (let call = 0; call < 500; call += 1) assert.equal(await server.open(), 'ECONNREFUSED')
  assert.equal(server.opened, opened, 'none of them reached the server')
  assert.ok(server.refused > 0, 'those that waited were told')
  server.goOn()
  await server.pass(2_500)
  assert.equal(await server.open(), undefined)
})

test('a server that is gone is asked less than twice a second, and found within two', async (t) => {
  const server = new FakeServer(t)
  await server.start()
  server.stop()
  server.attempts.length = 0
  await server.pass(60_000)
  assert.ok(server.attempts.length < 120, `${server.attempts.length} attempts in a minute`)
  assert.ok(server.attempts.length > 20, `${server.attempts.length} attempts in a minute`)
})

test('a connection that a client cannot open is tried for it, and nothing is dropped', async (t) => {
  const server = new FakeServer(t)
  await server.start()
  const refused = server.watch.open(async () => {
    throw Object.assign(new Error('full'), { code: '53300' })
  })
  await assert.rejects(refused, { code: '53300' })
  await server.pass(0)
  assert.equal(server.dropped, 0)
  assert.equal(server.attempts.length, 2, 'the watch has found out that there is room')
  assert.equal(await server.open(), undefined)
})

test('connections that take long are opened three at a time, others one at a time', async (t) => {
  const server = new FakeServer(t)
  await server.start()
  assert.equal(server.watch.atOnce(), 1)
  const clock = t.mock.method(performance, 'now', () => 0)
  const take = async (milliseconds: number) => {
    const done = Promise.withResolvers<void>()
    const opened = server.watch.open(async () => {
      await done.promise
      return { close: async () => undefined } as unknown as DatabaseSession
    })
    await server.pass(0)
    clock.mock.mockImplementation(() => milliseconds)
    done.resolve()
    await opened
    clock.mock.mockImplementation(() => 0)
  }
  await take(600)
  assert.equal(server.watch.atOnce(), 3)
  const { opened } = server
  server.state = 'silent'
  const waiting = Array.from({ length: 5 }, () => server.open())
  await server.pass(0)
  assert.equal(server.opened - opened, 3)
  server.goOn()
  await Promise.all(waiting)
  assert.equal(server.opened - opened, 5)
  assert.equal(server.watch.atOnce(), 1, 'the last ones were quick')
})

test('a server that admits nobody is asked by one attempt at a time, however slow it was', async (t) => {
  const server = new FakeServer(t)
  await server.start()
  server.state = 'silent'
  await server.pass(20_000)
  assert.equal(server.watch.atOnce(), 1)
})

test('an attempt that fails after a later one has succeeded closes nothing', async (t) => {
  const server = new FakeServer(t)
  await server.start()
  const clock = t.mock.method(performance, 'now', () => 0)
  const slow = server.watch.open(async () => {
    clock.mock.mockImplementation(() => 600)
    return { close: async () => undefined } as unknown as DatabaseSession
  })
  await slow
  const failing = Promise.withResolvers<DatabaseSession>()
  const failed = assert.rejects(server.watch.open(() => failing.promise))
  await server.pass(0)
  clock.mock.mockImplementation(() => 700)
  assert.equal(await server.open(), undefined)
  failing.reject(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
  await failed
  await server.pass(0)
  assert.equal(server.refused, 0)
  assert.equal(await server.open(), undefined)
})

test('clients connect once the server begins to answer, beside the watch', async (t) => {
  const server = new FakeServer(t)
  await server.start()
  server.state = 'silent'
  await server.pass(2_100)
  server.state = 'slow'
  await server.pass(3_100)
  assert.equal(server.welcomed, 1)
  assert.equal(server.listened, 1, 'the watch has no session yet')
  assert.equal(await server.open(), undefined)
  assert.equal(server.opened, 1)
})

test('a server that has begun to answer has ten seconds more, whatever earlier ones met', async (t) => {
  const server = new FakeServer(t)
  await server.start()
  server.state = 'silent'
  await server.pass(2_100)
  // An attempt of 4 s begins after two; three later another one is made beside it, and let in.
  await server.pass(2_900)
  server.state = 'slow'
  await server.pass(2_700)
  assert.equal(server.welcomed, 1)
  const { refused } = server
  await server.pass(6_000)
  assert.equal(server.refused, refused, 'the first attempt has ended meanwhile')
  await server.pass(4_500)
  assert.ok(server.refused > refused, 'what waits is told at last')
})
