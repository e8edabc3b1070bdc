/** Gateways on one database that keep files in folders of their own: one place takes files. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { createLog } from '../../server/api/app/log.ts'
import { createBlobs } from '../../server/work/assets/storage/blobs.ts'
import { createDiskStorage } from '../../server/work/assets/storage/disk-storage.ts'
import { type Stage, startGateway, startStage } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { MP4, startOrigin } from './origin.ts'
import { openShelf, type Shelf } from './support.ts'

const TAKES_NONE = /this one accepts none.*give all of them the same S3_ENDPOINT/
const TAKES_ALL = /only those of this place accept any/

let stage: Stage
let dataDir: string
before(async () => {
  stage = await startStage()
  dataDir = mkdtempSync(join(tmpdir(), 'tributary-apart-'))
})
after(async () => {
  await stage.stop()
  rmSync(dataDir, { recursive: true })
})

async function upload(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const body = new FormData()
  body.append('purpose', 'user_data')
  body.append('file', new Blob(['hello']), 'hello.txt')
  const headers = { authorization: `Bearer ${stage.key.key}` }
  const response = await fetch(`${url}/v1/files`, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

test('the place of the first gateway takes files, another one says why it does not', async () => {
  const same = await startGateway(stage.place)
  assert.doesNotMatch(same.log(), TAKES_NONE)
  const apart = await startGateway({ ...stage.place, dataDir })
  await until('why it takes none', () => TAKES_NONE.test(apart.log()))
  await until('the warning of the first', () => TAKES_ALL.test(stage.gateway.log()))
  const refused = await upload(apart.url)
  assert.equal(refused.status, 503)
  assert.match(refused.text, /accepts no files.*S3_ENDPOINT/)
  for (const { url } of [same, stage]) assert.equal((await upload(url)).status, 200)
  const [{ loose } = { loose: -1 }] = await stage.sql`select count(*)::int as loose from loose_blob`
  assert.equal(loose, 0)
  await Promise.all([same.stop(), apart.stop()])
  const alone = await startGateway(stage.place)
  assert.doesNotMatch(alone.log(), TAKES_NONE, 'the other one has ended')
  await alone.stop()
})

test('a second place that was refused takes files once the first has ended', async () => {
  const apart = await startGateway({ ...stage.place, dataDir })
  assert.equal((await upload(apart.url)).status, 503)
  await stage.gateway.stop()
  await until('an upload', async () => (await upload(apart.url)).status === 200 || undefined)
  await apart.stop()
})

for (const role of ['api', 'worker']) {
  test(`a process with ROLE=${role} in another place does not start`, async () => {
    const first = await startGateway(stage.place)
    const env = { ...stage.place.env, ROLE: role }
    await assert.rejects(
      startGateway({ ...stage.place, dataDir, env }),
      new RegExp(`with ROLE=${role}, gateways keep files in different places.*S3_ENDPOINT`),
    )
    // What it leaves behind has no say about the place.
    assert.equal((await upload(first.url)).status, 200)
    const shared = await startGateway({ ...stage.place, env })
    await Promise.all([shared.stop(), first.stop()])
  })
}

test('a process that keeps no files leaves copies to others, then says why', async () => {
  const origin = await startOrigin(MP4)
  let keeps = false
  const shelf: Shelf = await openShelf({ keepsFiles: () => keeps })
  try {
    await shelf.succeed({ result: { video_url: `${origin.url}/v.mp4` } })
    shelf.copy({ limits: { leftMs: 50 } })
    const waiting = await until('the reason', async () => {
      const row = await shelf.row('task_a')
      return row.failure === null ? undefined : row
    })
    assert.equal(waiting.state, 'waiting')
    assert.match(waiting.failure ?? '', /keeps its files where the others do/)
    assert.deepEqual([origin.requests, shelf.stored()], [[], []], 'nothing is fetched or written')
    keeps = true
    assert.equal((await shelf.untilState('task_a', 'stored')).failure, null)
  } finally {
    await shelf.stop()
    await origin.stop()
  }
})

test('content that is removed where it does not lie stays marked for those who have it', async () => {
  let keeps = true
  const shelf: Shelf = await openShelf({ keepsFiles: () => keeps })
  try {
    const blob = await shelf.blobs.write(Readable.from([Buffer.from('hello')]), 10)
    keeps = false
    await shelf.blobs.clear(blob.key)
    const marks = await shelf.sql`select 1 from loose_blob where due_at <= now()`
    assert.equal(marks.length, 1)
    assert.equal(await shelf.blobs.clearDue(), 0)
    keeps = true
    assert.equal(await shelf.blobs.clearDue(), 1)
    assert.deepEqual(shelf.stored(), [])
  } finally {
    await shelf.stop()
  }
})

test('content in a folder that this gateway does not have stays marked as well', async () => {
  const shelf: Shelf = await openShelf()
  try {
    const { key } = await shelf.blobs.write(Readable.from([Buffer.from('hello')]), 10)
    const storage = createDiskStorage(join(dataDir, 'none'))
    const log = createLog({ level: 'silent', format: 'json' })
    await createBlobs({ sql: shelf.sql, storage, log }).clear(key)
    assert.equal(shelf.stored().length, 1)
    await shelf.sql`update loose_blob set due_at = now()`
    assert.equal(await shelf.blobs.clearDue(), 1)
    assert.deepEqual(shelf.stored(), [])
  } finally {
    await shelf.stop()
  }
})
