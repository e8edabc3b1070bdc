import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { noteOf } from '../../../simulators/media/mp4.ts'
import { untilValue } from '../../support/until.ts'
import { type Answer, KEYS, simulated } from '../support.ts'
import { receiver } from './task-support.ts'

const CREATE = '/minimax/v2/video_generation'
const AGAIN = '/minimax/v2/video_regeneration'
const QUERY = '/minimax/v2/query/video_generation'
const sim = simulated({ timeScale: 0.001 })

const content = (text: string) => [{ type: 'text', text }]
const create = (text: string, more: object = {}) =>
  sim.post(CREATE, KEYS.minimax, { model: 'MiniMax-H3', content: content(text), ...more })
const query = (id: unknown) => sim.get(`${QUERY}/${id}`, KEYS.minimax)
const ended = (made: Answer) =>
  untilValue(
    () => query(made.json.task_id),
    ({ json }) => !['queued', 'running'].includes(String(json.task?.status)),
  )

test('768P: seconds are billed, the file has its size, and can be had in 2K', async () => {
  const made = await create('a cat [[call:mm-1]]', { resolution: '768P', ratio: '16:9' })
  const { json } = await ended(made)
  assert.equal(json.task?.status, 'succeeded')
  assert.deepEqual(json.task?.usage, {
    total_seconds: 5,
    input_seconds: 0,
    output_seconds: 5,
    input_image_count: 0,
  })
  assert.deepEqual(sim.running.book.entries({ marker: 'mm-1' })[0]?.units, { second: 5 })
  const file = await fetch(String(json.task?.content?.url))
  const note = noteOf(Buffer.from(await file.arrayBuffer()))
  assert.ok(typeof note === 'object' && note !== null && 'width' in note)
  assert.equal(note.width, 1366)
  const source = { model: 'MiniMax-H3', source_task_id: made.json.task_id, resolution: '2K' }
  const again = await ended(await sim.post(AGAIN, KEYS.minimax, source))
  assert.deepEqual([again.json.task?.resolution, again.json.task?.status], ['2K', 'succeeded'])
  const twice = { ...source, source_task_id: again.json.task?.id }
  assert.equal((await sim.post(AGAIN, KEYS.minimax, twice)).status, 400)
})

test('videos that go in are billed too, and images beyond five', async () => {
  const video = { type: 'video_url', video_url: { url: 'https://a.example/v.mp4' } }
  const image = { type: 'image_url', image_url: { url: 'https://a.example/i.png' } }
  const items = [
    ...content('x [[call:mm-2]][[fault:media-seconds=3;polls=1]]'),
    { ...video, role: 'reference_video' },
    ...Array(7).fill({ ...image, role: 'reference_image' }),
  ]
  const made = await create('', { content: items })
  await query(made.json.task_id)
  const [entry] = sim.running.book.entries({ marker: 'mm-2' })
  assert.deepEqual(entry?.units, { second: 8, image: 2 })
})

describe('refused', () => {
  const cases: [string, object][] = [
    ['an unknown model', { model: 'MiniMax-1' }],
    ['720p', { resolution: '720p' }],
    ['3 seconds', { duration: 3 }],
    ['4 seconds on Max', { duration: 4, model: 'MiniMax-H3-Max' }],
    ['adaptive for text', { ratio: 'adaptive' }],
    ['a seed', { seed: 1 }],
    ['a long text', { content: content('x'.repeat(7001)) }],
  ]
  for (const [name, more] of cases) {
    test(name, async () => {
      const { status, json } = await create('x', more)
      assert.equal(status, 400)
      assert.equal(json.error?.type, 'invalid_request_error')
    })
  }
  test('under HTTP 200', async () => {
    const { status, json } = await create('[[fault:error-200;error-code=1026]]')
    assert.deepEqual([status, json.base_resp?.status_code], [200, 1026])
  })
})

test('a failure has a number for its code', async () => {
  const { json } = await ended(await create('[[fault:fail-task]]'))
  assert.deepEqual([json.task?.status, json.task?.error?.code], ['failed', 1027])
})

test('calls back only where the challenge is echoed', async () => {
  const honest = await receiver(({ challenge }) => JSON.stringify({ challenge }))
  const deaf = await receiver(() => '{}')
  await create('x', { callback_url: deaf.url })
  await create('x', { callback_url: honest.url })
  const states = () => honest.received.slice(1).map((body) => String(body.task?.status))
  await untilValue(states, (seen) => seen.includes('succeeded'))
  assert.deepEqual(states(), ['queued', 'running', 'succeeded'])
  assert.equal(deaf.received.length, 1)
})
