import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noteOf } from '../../../simulators/media/mp4.ts'
import { untilValue } from '../../support/until.ts'
import { KEYS, list, simulated } from '../support.ts'
import { isOver, receiver } from './task-support.ts'

const PATH = '/ark/api/v3/contents/generations/tasks'
const sim = simulated({ timeScale: 0.002 })
/** A day lasts 86 ms. */
const hasty = simulated({ timeScale: 1e-6 })

const text = (prompt: string) => [{ type: 'text', text: prompt }]
const video = (prompt: string, more: object = {}) => {
  return { model: 'doubao-seedance-2-0-260128', content: text(prompt), ...more }
}
const create = async (body: object) => String((await sim.post(PATH, KEYS.ark, body)).json.id)
const look = (id: string) => sim.get(`${PATH}/${id}`, KEYS.ark)
const ended = (id: string) => untilValue(() => look(id), isOver)
const remove = (id: string) => sim.get(`${PATH}/${id}`, KEYS.ark, 'DELETE')
const stateOf = async (id: string) => String((await look(id)).json.status)

test('a task is queued, runs, succeeds, and is billed once by frames and pixels', async () => {
  const made = await sim.post(
    PATH,
    KEYS.ark,
    video('a cat [[call:v-1]][[fault:polls=3]]', { ratio: '16:9' }),
  )
  assert.deepEqual(Object.keys(made.json), ['id'])
  const id = String(made.json.id)
  assert.match(id, /^cgt-\d{14}-[0-9a-z]{5}$/)
  const states = new Set<string>()
  await untilValue(
    () => look(id),
    (seen) => {
      states.add(String(seen.json.status))
      return isOver(seen)
    },
  )
  assert.deepEqual([...states], ['queued', 'running', 'succeeded'])
  const { json } = await look(id)
  assert.equal(json.usage?.completion_tokens, 108_900)
  assert.equal(json.error, null)
  assert.deepEqual([json.resolution, json.ratio, json.duration], ['720p', '16:9', 5])
  assert.ok(Number.isInteger(json.seed) && Number(json.framespersecond) === 24)
  const entries = sim.running.book.entries({ marker: 'v-1' })
  assert.deepEqual(
    entries.map(({ request_id, units, billed }) => [request_id, units, billed]),
    [[id, { output_token: 108_900 }, true]],
  )
})

describe('tokens as measured', () => {
  const cases: [string, object, number][] = [
    ['4 s 480p 2.0', { duration: 4, resolution: '480p' }, 40_594],
    ['4 s 480p 2.5', { duration: 4, resolution: '480p', model: SEEDANCE_25() }, 38_830],
    ['4 s 1080p', { duration: 4, resolution: '1080p' }, 196_425],
    ['30 s 480p 2.5', { duration: 30, resolution: '480p', model: SEEDANCE_25() }, 288_625],
    ['the floor with a video', { content: withVideo() }, 216_900],
    ['the floor itself', { content: withVideo('[[fault:media-seconds=2]]') }, 194_400],
  ]
  for (const [name, more, tokens] of cases) {
    test(name, async () => {
      const id = await create(video('x', { ...more }))
      assert.equal((await ended(id)).json.usage?.completion_tokens, tokens)
    })
  }
})

function SEEDANCE_25() {
  return 'doubao-seedance-2-5-260628'
}

function withVideo(prompt = 'x') {
  const reference = { type: 'video_url', video_url: { url: 'https://a.example/v.mp4' } }
  return [...text(prompt), { ...reference, role: 'reference_video' }]
}

test('the files: an MP4 in ranges, the last frame, and an address that expires', async () => {
  const id = await create(video('x', { resolution: '480p', return_last_frame: true }))
  const { json } = await ended(id)
  const whole = await fetch(String(json.content?.video_url))
  assert.equal(whole.headers.get('content-type'), 'video/mp4')
  const bytes = Buffer.from(await whole.arrayBuffer())
  assert.equal(bytes.toString('latin1', 4, 8), 'ftyp')
  assert.deepEqual(noteOf(bytes), {
    width: 864,
    height: 496,
    frames: 121,
    subtitle: true,
    prompt: 'x',
    title: 'doubao-seedance-2-0-260128 480p 16:9',
  })
  const part = await fetch(String(json.content?.video_url), { headers: { range: 'bytes=4-7' } })
  assert.equal(part.status, 206)
  assert.equal(part.headers.get('content-range'), `bytes 4-7/${bytes.length}`)
  assert.equal(await part.text(), 'ftyp')
  const still = Buffer.from(await (await fetch(String(json.content?.last_frame_url))).arrayBuffer())
  assert.deepEqual([still.readUInt32BE(16), still.readUInt32BE(20)], [864, 496])
})

test('delete means something else in every state', async () => {
  const queued = await create(video('x [[fault:queue-time=600000]]'))
  assert.equal((await remove(queued)).status, 200)
  assert.equal(await stateOf(queued), 'cancelled')
  assert.equal((await remove(queued)).status, 409)
  const running = await create(video('x [[fault:queue-time=0;never-ends]]'))
  await untilValue(
    () => stateOf(running),
    (state) => state === 'running',
  )
  const refused = await remove(running)
  assert.equal(refused.status, 409)
  assert.equal(refused.json.error?.code, 'InvalidAction.RunningTaskDeletion')
  const done = await create(video('x [[fault:polls=1]]'))
  assert.equal((await ended(done)).json.status, 'succeeded')
  assert.equal((await remove(done)).status, 200)
  assert.equal((await look(done)).status, 404)
  assert.equal((await remove(done)).json.error?.code, 'ResourceNotFound')
})

test('the list: newest first, by state, model and ids, in pages', async () => {
  const model = 'doubao-seedance-1-0-pro-250528'
  const ids = []
  for (let count = 0; count < 3; count += 1) {
    ids.push(await create(video(`list ${count} [[fault:never-ends;queue-time=600000]]`, { model })))
  }
  const listed = async (query: string) => {
    const { json } = await sim.get(`${PATH}?${query}`, KEYS.ark)
    return { ids: list(json.items).map((item) => item.id), total: json.total }
  }
  const newest = ids.toReversed()
  assert.deepEqual(await listed(`filter.model=${model}`), { ids: newest, total: 3 })
  const second = await listed(`filter.model=${model}&page_num=2&page_size=2`)
  assert.deepEqual(second, { ids: newest.slice(2), total: 3 })
  const two = `filter.task_ids=${ids[0]}&filter.task_ids=${ids[1]}`
  assert.equal((await listed(`${two}&filter.status=queued`)).total, 2)
  assert.equal((await listed(`${two}&filter.status=failed`)).total, 0)
  assert.equal((await sim.get(`${PATH}?page_size=501`, KEYS.ark)).status, 400)
})

test('addresses are good for a day, records for seven, cancelled ones for one', async () => {
  const created = await hasty.post(PATH, KEYS.ark, video('x [[fault:polls=1]]'))
  const path = `${PATH}/${created.json.id}`
  const { json } = await hasty.get(path, KEYS.ark)
  const [status] = await Promise.all([
    untilValue(
      async () => (await fetch(String(json.content?.video_url))).status,
      (seen) => seen !== 200,
    ),
    untilValue(
      async () => (await hasty.get(path, KEYS.ark)).status,
      (seen) => seen === 404,
    ),
  ])
  assert.equal(status, 403)
  const waiting = await hasty.post(PATH, KEYS.ark, video('x [[fault:queue-time=1e12]]'))
  const cancelled = `${PATH}/${waiting.json.id}`
  assert.equal((await hasty.get(cancelled, KEYS.ark, 'DELETE')).status, 200)
  await untilValue(
    async () => (await hasty.get(cancelled, KEYS.ark)).status,
    (seen) => seen === 404,
  )
})

test('each change of state calls back with what GET says', async () => {
  const { url, received } = await receiver()
  const id = await create(video('x', { callback_url: url }))
  await untilValue(
    () => received.length,
    (count) => count >= 3,
  )
  assert.deepEqual(
    received.map((body) => [body.id, body.status]),
    ['queued', 'running', 'succeeded'].map((state) => [id, state]),
  )
  assert.deepEqual(received[2], (await look(id)).json)
})
