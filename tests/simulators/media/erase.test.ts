import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteOf } from '../../../simulators/media/mp4.ts'
import { untilValue } from '../../support/until.ts'
import { type Json, KEYS, simulated } from '../support.ts'
import { receiver } from './task-support.ts'

const VIDEOS = '/ark/api/v3/contents/generations/tasks'
const ERASE = '/mediakit/api/v1/tools/erase-video-subtitle'
const TASKS = '/mediakit/api/v1/tasks'
const sim = simulated({ timeScale: 0.001 })

const erase = (body: object, path = ERASE) => sim.post(path, KEYS.mediakit, body)
const ended = (id: unknown) =>
  untilValue(
    () => sim.get(`${TASKS}/${id}`, KEYS.mediakit),
    ({ json }) => String(json.status) !== 'running',
  )

async function video(): Promise<string> {
  const content = [{ type: 'text', text: 'a cat [[fault:polls=1]]' }]
  const model = 'doubao-seedance-2-0-260128'
  const made = await sim.post(VIDEOS, KEYS.ark, { model, content, resolution: '480p' })
  const { json } = await sim.get(`${VIDEOS}/${made.json.id}`, KEYS.ark)
  return String(json.content?.video_url)
}

test('the same film without its subtitle, billed by its seconds', async () => {
  const address = await video()
  const made = await erase({ video_url: address })
  assert.equal(made.json.success, true)
  assert.match(String(made.json.task_id), /^amk-tool-erase-video-subtitle-\w+$/)
  const { json } = await ended(made.json.task_id)
  assert.equal(json.status, 'completed')
  assert.equal(json.result?.duration, 5.04)
  const bytes = async (url: unknown) => Buffer.from(await (await fetch(String(url))).arrayBuffer())
  const before = noteOf(await bytes(address)) as Json
  const after = noteOf(await bytes(json.result?.video_url))
  assert.deepEqual(after, { ...before, subtitle: false })
  assert.deepEqual(sim.running.book.entries().at(-1)?.units, { second: 6 })
})

test('calls back with what a poll says', async () => {
  const { url, received } = await receiver()
  const more = { callback_url: url, callback_args: 'mine' }
  const made = await erase({ video_url: await video(), ...more })
  const [body] = await untilValue(
    () => received,
    (seen) => seen.length > 0,
  )
  assert.equal(body?.task_id, made.json.task_id)
  assert.deepEqual([body?.status, body?.callback_args], ['completed', 'mine'])
})

test('the same token is the same task', async () => {
  const body = { video_url: 'https://a.example/v.mp4', client_token: 'once' }
  const [first, second] = [await erase(body), await erase(body)]
  assert.equal(first.json.task_id, second.json.task_id)
})

test('what is no video fails, and is not billed', async () => {
  for (const address of [`${sim.url}/sim`, `${sim.url}/media/none/v.mp4`]) {
    const made = await erase({ video_url: address })
    const { json } = await ended(made.json.task_id)
    assert.deepEqual([json.status, json.error?.code], ['failed', 'InvalidVideo'])
    assert.equal(sim.running.book.entries().at(-1)?.billed, false)
  }
})

test('refusals', async () => {
  const bodies = [{}, { video_url: 'ftp://a' }, { video_url: 'https://a', mode: 'Text' }]
  for (const body of bodies) {
    const { status, json } = await erase(body)
    assert.equal(status, 400)
    assert.equal(json.error?.code, 'InvalidParameter')
  }
  const tuned = { video_url: 'https://a.example/v.mp4', mode: 'Text', model_version: 'v5' }
  assert.equal((await erase(tuned, `${ERASE}-pro`)).status, 200)
  const unknown = await sim.get(`${TASKS}/none`, KEYS.mediakit)
  assert.deepEqual([unknown.status, unknown.json.error?.code], [404, 'TaskNotFound'])
  const wrong = await sim.post(ERASE, KEYS.ark, {})
  assert.equal(wrong.status, 401)
})
