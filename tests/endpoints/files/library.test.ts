/** /v1/gallery and /v1/assets, black box: from a task's success to the deletion of its entry. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { addToLibrary } from '../../../server/work/assets/library/library.ts'
import { MP4, type Origin, startOrigin } from '../../assets/origin.ts'
import type { Tenant } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { CONTENTS_PATH, startTaskStage, type TaskStage, VIDEO_PATH } from '../../tasks/stage.ts'

const SHELVES = ['/v1/gallery', '/v1/assets']
const dataDir = mkdtempSync(join(tmpdir(), 'library-'))
let stage: TaskStage
let origin: Origin

before(async () => {
  origin = await startOrigin(MP4)
  stage = await startTaskStage({ DATA_DIR: dataDir })
})
after(async () => {
  await stage.stop()
  await origin.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const stored = () =>
  readdirSync(join(dataDir, 'files'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.length > 3,
  )

const entries = async ({ key }: Tenant, query = '', path = '/v1/assets') =>
  (await stage.gateway.get(`${path}${query}`, key)).json

/** Runs a video task that ends with results at the origin. */
async function makeVideo(tenant: Tenant, path: string) {
  const { json } = await stage.create(tenant)
  const task = stage.vendor.tasks.get(json.upstream_id)
  assert.ok(task)
  const content = { video_url: `${origin.url}${path}`, last_frame_url: `${origin.url}${path}.png` }
  Object.assign(task, { status: 'succeeded', extra: { content } })
  await stage.until(tenant, json.id, 'succeeded')
  return json
}

/** Inserts image entries as the end of an image task does. */
async function addImages({ accountId }: Tenant, count: number) {
  for (let number = 0; number < count; number += 1) {
    const task = {
      id: `task_${accountId}${number}`,
      kind: 'image',
      account_id: accountId,
      request_id: 'req_x',
      model: `model-${number % 2}`,
      request: { prompt: `p${number}` },
      result: { data: [{ url: `${origin.url}/${number}.png`, size: '10x20' }] },
    }
    await stage.gateway.sql.begin((transaction) => addToLibrary(transaction, task))
  }
}

test('a finished video is added to the library and copied, and its task has our link', async () => {
  const tenant = await stage.gateway.tenant()
  const { key } = tenant
  const task = await makeVideo(tenant, '/a.mp4')
  const done = await until('both copies', async () => {
    const { data } = await entries(tenant)
    const states = data.map((one: { copy: { state: string } }) => one.copy.state)
    return states.join() === 'stored,stored' ? data : undefined
  })
  const video = done.find((one: { kind: string }) => one.kind === 'video')
  assert.deepEqual([video.task_id, video.model, video.object], [task.id, 'test-video', 'asset'])
  assert.deepEqual([video.bytes, video.content_type, video.duration], [MP4.length, 'video/mp4', 5])
  const eraseMs = Date.parse(video.erase_until) - Date.parse(video.created_at)
  assert.equal(eraseMs, 23 * 3_600_000)
  assert.equal(
    (await stage.gateway.get(`/v1/usage/${video.request_id}`, key)).json.task_id,
    task.id,
  )
  assert.deepEqual(await entries(tenant, `/${video.id}`), video)
  const shown = [
    (await stage.gateway.get(`${VIDEO_PATH}/${task.id}`, key)).json.video_url,
    (await stage.gateway.get(VIDEO_PATH, key)).json.data[0].video_url,
    (await stage.gateway.get(`${CONTENTS_PATH}/${task.upstream_id}`, key)).json.content.video_url,
    (await stage.gateway.get(CONTENTS_PATH, key)).json.items[0].content.video_url,
  ]
  assert.deepEqual(new Set(shown), new Set([video.url]))
  assert.match(new URL(video.url).pathname, /^\/media\/\w{40}\/video\.mp4$/)
})

test('pages without gaps or repeats, and filters', async () => {
  const tenant = await stage.gateway.tenant()
  await addImages(tenant, 7)
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const query: string = `?limit=3${cursor ? `&cursor=${cursor}` : ''}`
    const page = await entries(tenant, query, '/v1/gallery')
    seen.push(...page.data.map((one: { prompt: string }) => one.prompt))
    cursor = page.next_cursor
  } while (cursor)
  assert.deepEqual(seen, ['p6', 'p5', 'p4', 'p3', 'p2', 'p1', 'p0'])
  const { data } = await entries(tenant, '?model=model-1', '/v1/gallery')
  assert.equal(data.length, 3)
  const [newest] = data
  const count = async (query: string) => (await entries(tenant, query, '/v1/gallery')).data.length
  assert.equal(await count(`?task_id=${newest.task_id}`), 1)
  // p5, p6 after it, and what was added in the same millisecond.
  const all = (await entries(tenant, '', '/v1/gallery')).data
  const since = all.filter((one: { created_at: string }) => one.created_at >= newest.created_at)
  assert.ok(since.length >= 2)
  assert.equal(await count(`?from=${newest.created_at}`), since.length)
  assert.equal(await count('?to=2020-01-01'), 0)
  assert.equal((await entries(tenant, '?kind=video')).data.length, 0)
  assert.equal((await entries(tenant)).data.length, 0, 'images are on the other shelf')
})

test('204: deleted with its bytes and its link; the record stays', async () => {
  const tenant = await stage.gateway.tenant()
  const task = await makeVideo(tenant, '/b.mp4')
  const assets = () => entries(tenant, `?task_id=${task.id}&kind=video`)
  const entry = await until('a copy', async () => {
    const [one] = (await assets()).data
    return one.copy.state === 'stored' ? one : undefined
  })
  const link = stage.gateway.url + new URL(entry.url).pathname
  assert.equal((await fetch(link)).status, 200)
  const count = stored().length
  const remove = () =>
    stage.gateway.fetch(`/v1/assets/${entry.id}`, { method: 'DELETE', key: tenant.key })
  const removed = await remove()
  assert.deepEqual([removed.status, await removed.text()], [204, ''])
  assert.equal((await remove()).status, 404)
  assert.equal((await fetch(link)).status, 404)
  assert.equal(stored().length, count - 1)
  assert.equal((await stage.gateway.get(`/v1/usage/${entry.request_id}`, tenant.key)).status, 200)
  const record = await stage.gateway.get(`/v1/videos/generations/${task.id}`, tenant.key)
  assert.equal(record.json.status, 'succeeded')
  assert.equal(record.json.video_url, undefined, 'the vendor’s link is not shown in its place')
  assert.match(record.json.last_frame_url, /^http/)
})

describe('refusals', () => {
  test('401 without a key', async () => {
    for (const path of SHELVES) {
      assert.equal((await stage.gateway.fetch(path, {})).status, 401)
    }
  })

  test('400 for invalid limits, cursors, times and kinds', async () => {
    const tenant = await stage.gateway.tenant()
    const bad = ['limit=0', 'limit=201', 'cursor=x', 'from=soon', 'kind=image']
    for (const query of bad) {
      assert.equal((await stage.gateway.get(`/v1/assets?${query}`, tenant.key)).status, 400, query)
    }
  })

  test('the same 404 for foreign, unknown and malformed ids, and ids of the other list', async () => {
    const owner = await stage.gateway.tenant()
    const stranger = await stage.gateway.tenant()
    await addImages(owner, 1)
    const [image] = (await entries(owner, '', '/v1/gallery')).data
    const ids = [image.id, 'asset_unknown', 'x', '%00', 'a%2F..%2Fb', '%ff', 'x'.repeat(5000)]
    for (const path of SHELVES) {
      const texts = new Set<string>()
      for (const id of ids) {
        const answer = await stage.gateway.get(`${path}/${id}`, stranger.key)
        assert.equal(answer.status, 404, id)
        texts.add(answer.text)
        const options = { method: 'DELETE', key: stranger.key }
        assert.equal((await stage.gateway.fetch(`${path}/${id}`, options)).status, 404)
      }
      assert.equal(texts.size, 1)
    }
    assert.equal((await stage.gateway.get(`/v1/assets/${image.id}`, owner.key)).status, 404)
    assert.equal((await stage.gateway.get(`/v1/gallery/${image.id}`, owner.key)).status, 200)
    const foreign = await entries(stranger, `?cursor=${image.id}`, '/v1/gallery')
    assert.deepEqual(foreign, { data: [], next_cursor: null })
  })
})
