import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { until } from '../support/until.ts'
import { answering, breakingOff, MP4, type Origin, PNG, startOrigin } from './origin.ts'
import { openShelf, type Shelf } from './support.ts'

let origin: Origin
let shelf: Shelf

before(async () => {
  origin = await startOrigin(MP4)
})
after(() => origin.stop())
beforeEach(async () => {
  origin.content = MP4
  origin.requests.length = 0
  origin.faults.length = 0
  shelf = await openShelf()
})
afterEach(() => shelf.stop())

const video = (path = '/v.mp4') => ({ result: { video_url: origin.url + path, duration: 5 } })
const looseCount = async () => (await shelf.sql`select 1 from loose_blob`).length

describe('a copy', () => {
  test('stores the bytes, recognises them, and belongs to its entry', async () => {
    await shelf.succeed(video())
    shelf.copy()
    const row = await shelf.untilState('task_a', 'stored')
    assert.equal(Number(row.bytes), MP4.length)
    assert.deepEqual([shelf.stored().length, await looseCount()], [1, 0])
    const [shown] = await shelf.library.list({ accountId: 'acct_a', kinds: ['video'], limit: 5 })
    assert.match(shown ? (shelf.library.linkOf(shown) ?? '') : '', /\/media\/\w{40}\/video\.mp4$/)
    assert.equal(shown?.content_type, 'video/mp4')
    const task = { id: 'task_a', account_id: 'acct_a', ...video() }
    const [own] = await shelf.library.withOwnLinks([task])
    assert.equal(own?.result.video_url, shown && shelf.library.linkOf(shown))
    assert.equal(own?.result.duration, 5)
  })

  test('is retried after failures of every kind', async () => {
    const { faults } = origin
    faults.push(answering(500), answering(403), breakingOff, (response) => response.destroy())
    faults.push((response) => response.writeHead(200, { 'content-length': 0 }).end())
    // Sends some, then nothing for ever.
    faults.push((response, content) => response.writeHead(200).write(content.subarray(0, 100)))
    await shelf.succeed(video())
    shelf.copy()
    const row = await shelf.untilState('task_a', 'stored')
    assert.equal(row.attempts, 7)
    assert.equal(row.failure, null)
    assert.equal(Number(row.bytes), MP4.length)
    assert.deepEqual([shelf.stored().length, await looseCount()], [1, 0], 'no remains of a failure')
  })

  test('follows redirects, but none to a forbidden address', async () => {
    origin.faults.push(answering(302, { location: '/elsewhere.mp4' }))
    await shelf.succeed(video())
    shelf.copy()
    await shelf.untilState('task_a', 'stored')
    assert.deepEqual(origin.requests, ['/v.mp4', '/elsewhere.mp4'])
    for (let times = 0; times < 9; times += 1) {
      origin.faults.push(answering(302, { location: '/round' }))
    }
    await shelf.succeed({ id: 'task_r', ...video() })
    await until('an end of going round', async () =>
      (await shelf.row('task_r')).failure?.includes('redirects') ? true : undefined,
    )
    await shelf.untilState('task_r', 'stored')
    origin.faults.push(answering(302, { location: 'http://169.254.169.254/latest' }))
    await shelf.succeed({ id: 'task_b', ...video() })
    const failed = await until('a refusal', async () => {
      const { failure } = await shelf.row('task_b')
      return failure ?? undefined
    })
    assert.match(failed, /metadata/)
  })

  test('is given up when the link has expired, and says why', async () => {
    for (let times = 0; times < 50; times += 1) origin.faults.push(answering(403))
    await shelf.succeed(video())
    shelf.copy()
    await until('a second attempt', async () => (await shelf.row('task_a')).attempts > 1)
    await shelf.sql`update asset set source_expires_at = now() + interval '300 milliseconds'`
    const row = await shelf.untilState('task_a', 'failed')
    assert.match(row.failure ?? '', /403/)
    await shelf.sql`update asset set source_expires_at = now()`
    const [shown] = await shelf.library.list({ accountId: 'acct_a', kinds: ['video'], limit: 5 })
    assert.equal(shown && shelf.library.linkOf(shown), undefined)
  })

  test('whose link expired while it was tried is not tried again', async () => {
    const isExpired = async () => {
      const [row] = await shelf.sql<{ expired: boolean }[]>`
        select source_expires_at < now() as expired from asset`
      return row?.expired
    }
    origin.faults.push(async (response) => {
      await until('the expiry', isExpired)
      response.writeHead(503).end()
    })
    await shelf.succeed(video())
    await shelf.sql`update asset set source_expires_at = now() + interval '3 seconds'`
    shelf.copy()
    assert.equal((await shelf.untilState('task_a', 'failed')).attempts, 1)
  })

  test('that is too large is given up at once; one over the account’s limit waits', async () => {
    await shelf.succeed(video())
    shelf.copy({ limits: { bytesMax: 1_000 } })
    const row = await shelf.untilState('task_a', 'failed')
    assert.deepEqual([row.attempts, origin.requests.length], [1, 1])
    assert.match(row.failure ?? '', /too large/)
    assert.deepEqual([shelf.stored(), await looseCount()], [[], 0])
  })

  test('without room waits until there is some', async () => {
    await shelf.succeed({ id: 'task_old', ...video('/old.mp4') })
    const copier = shelf.copy({ bytesMax: MP4.length + 10 })
    const old = await shelf.untilState('task_old', 'stored')
    await shelf.succeed(video())
    await until('a refusal', async () =>
      (await shelf.row('task_a')).failure?.includes('storage') ? true : undefined,
    )
    assert.equal(await shelf.library.remove('acct_a', ['video'], old.id), true)
    await shelf.untilState('task_a', 'stored')
    assert.equal(shelf.stored().length, 1)
    await copier.stop()
  })

  test('never happens twice, however many copiers there are', async () => {
    for (let count = 0; count < 20; count += 1) {
      await shelf.succeed({ id: `task_${count}`, ...video(`/${count}.mp4`) })
    }
    for (let count = 0; count < 4; count += 1) shelf.copy()
    for (let count = 0; count < 20; count += 1) await shelf.untilState(`task_${count}`, 'stored')
    assert.equal(new Set(origin.requests).size, 20)
    assert.equal(origin.requests.length, 20)
    assert.equal(shelf.stored().length, 20)
  })

  /** A copy of which some bytes have arrived; the returned function lets it continue. */
  async function holdCopy(): Promise<() => void> {
    const waiting = Promise.withResolvers<() => void>()
    origin.faults.push((response, content) => {
      response.writeHead(200, { 'content-length': content.length })
      response.write(content.subarray(0, 1000))
      waiting.resolve(() => response.end(content.subarray(1000)))
    })
    await shelf.succeed(video())
    shelf.copy({ limits: { idleMs: 60_000 } })
    const goOn = await waiting.promise
    await until('its first bytes', async () => (await looseCount()) === 1 || undefined)
    return goOn
  }

  test('that another process has taken over writes nothing', async () => {
    const goOn = await holdCopy()
    await shelf.sql`update asset set fence = fence + 1`
    goOn()
    await until('its remains to go', async () => (await looseCount()) === 0 || undefined)
    assert.deepEqual(shelf.stored(), [])
    const { state, failure } = await shelf.row('task_a')
    assert.deepEqual([state, failure], ['waiting', null])
  })

  test('that is aborted by a stop is claimed by the next copier, at once', async () => {
    const goOn = await holdCopy()
    await shelf.copiers[0]?.stop()
    goOn()
    assert.deepEqual([shelf.stored(), await looseCount()], [[], 0])
    shelf.copy()
    assert.equal((await shelf.untilState('task_a', 'stored')).attempts, 1)
  })

  test('of an account with many copies does not delay another’s', async () => {
    for (let count = 0; count < 20; count += 1) {
      await shelf.succeed({ id: `task_${count}`, ...video(`/${count}.mp4`) })
    }
    await shelf.succeed({ id: 'task_b', account_id: 'acct_b', ...video('/b.mp4') })
    shelf.copy({ limits: { slots: 1 } })
    await shelf.untilState('task_b', 'stored')
    // By chance one of the two: the last place of all is as good as impossible.
    assert.ok(origin.requests.indexOf('/b.mp4') < 20, origin.requests.join())
  })

  test('of an entry that is deleted meanwhile leaves nothing', async () => {
    const goOn = await holdCopy()
    const { id } = await shelf.row('task_a')
    assert.equal(await shelf.library.remove('acct_a', ['video'], id), true)
    goOn()
    await until('its remains to go', async () => (await looseCount()) === 0 || undefined)
    assert.deepEqual(shelf.stored(), [])
  })
})

describe('the result of a task', () => {
  test('images have their prompt, position and size; an erased copy its original', async () => {
    const { url } = origin
    origin.content = PNG
    await shelf.succeed({
      kind: 'image',
      id: 'task_i',
      request: { prompt: 'a fox', size: '64x32' },
      result: { data: [{ url: `${url}/0.png` }, { url: `${url}/1.png`, size: '8x9' }, {}] },
    })
    const images = await shelf.library.list({ accountId: 'acct_a', kinds: ['image'], limit: 5 })
    const sizes = images.map(({ position, width, height }) => [position, width, height])
    assert.deepEqual(sizes.sort(), [
      [0, 64, 32],
      [1, 8, 9],
    ])
    assert.equal(images[0]?.prompt, 'a fox')
    shelf.copy()
    assert.equal((await shelf.untilState('task_i', 'stored')).width, 1024, 'as the picture says')
    await shelf.succeed(video())
    const original = await shelf.row('task_a')
    const request = { video_task_id: 'task_a' }
    await shelf.succeed({ kind: 'erase', id: 'task_e', request, ...video('/e.mp4') })
    assert.equal((await shelf.row('task_e')).original_id, original.id)
    await shelf.succeed({ kind: 'erase', id: 'task_e', request, ...video('/e.mp4') })
    const erased = { accountId: 'acct_a', kinds: ['erased'], limit: 5 } as const
    assert.equal((await shelf.library.list(erased)).length, 1, 'once, though repeated')
  })

  test('no prompt is stored for an account that keeps none', async () => {
    await shelf.sql`
      insert into account (id, name, currency, keeps_prompts) values ('acct_q', 'q', 'CNY', false)`
    await shelf.succeed({
      kind: 'image',
      id: 'task_q',
      account_id: 'acct_q',
      request: { prompt: 'a fox' },
      result: { data: [{ url: `${origin.url}/0.png` }] },
    })
    assert.equal((await shelf.row('task_q')).prompt, null)
  })

  test('a link that names no end lives a day from the task’s, by the database’s clock', async () => {
    await shelf.succeed({ ...video(), finished_at: new Date('2030-01-01T00:00:00Z') })
    const [asset] = await shelf.sql<{ until: Date }[]>`
      select source_expires_at as until from asset where task_id = 'task_a'`
    assert.equal(asset?.until.toISOString(), '2030-01-02T00:00:00.000Z')
  })

  test('unexpected results add no entries and throw nothing', async () => {
    const odd = [null, {}, { video_url: 7 }, { video_url: 'ftp://x/y' }, { data: 'x' }]
    for (const result of [...odd, { data: [null, 1, { url: null }] }]) {
      for (const kind of ['video', 'erase', 'image', 'minutes']) {
        await shelf.succeed({ kind, result })
      }
    }
    assert.equal((await shelf.sql`select 1 from asset`).length, 0)
  })
})

test('loose content is removed when it is due, and only then', async () => {
  const { sql, blobs } = shelf
  const blob = await blobs.write(Readable.from([PNG]), 1_000)
  assert.equal(await blobs.clearDue(), 0, 'it may still be written')
  assert.equal(shelf.stored().length, 1)
  await sql`update loose_blob set due_at = now()`
  assert.equal(await blobs.clearDue(), 1)
  assert.deepEqual([shelf.stored(), await looseCount()], [[], 0])
  const adopt = (key: string) => sql.begin((transaction) => blobs.adopt(transaction, key))
  await assert.rejects(adopt(blob.key), /due for removal/)
  const late = await blobs.write(Readable.from([PNG]), 1_000)
  // As during its removal.
  await sql`update loose_blob set due_at = now() + interval '10 minutes'`
  await assert.rejects(adopt(late.key), /due for removal/)
})
