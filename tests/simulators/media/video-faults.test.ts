import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { untilValue } from '../../support/until.ts'
import { KEYS, list, simulated } from '../support.ts'
import { isOver } from './task-support.ts'

const PATH = '/ark/api/v3/contents/generations/tasks'
const sim = simulated({ timeScale: 0.0002 })

const content = (prompt: string) => [{ type: 'text', text: prompt }]
const submit = (prompt: string, more: object = {}) => {
  const body = { model: 'doubao-seedance-2-0-260128', content: content(prompt), ...more }
  return sim.post(PATH, KEYS.ark, body)
}
const create = async (prompt: string, more: object = {}) =>
  String((await submit(prompt, more)).json.id)
const look = (id: string) => sim.get(`${PATH}/${id}`, KEYS.ark)
const ended = (id: string) => untilValue(() => look(id), isOver)
const booked = (marker: string) => sim.running.book.entries({ marker })

test('a refused creation makes no task', async () => {
  const { status, json } = await submit('[[call:f-1]][[fault:moderation]]')
  assert.equal(status, 400)
  assert.equal(json.error?.code, 'InputTextSensitiveContentDetected')
  assert.equal((await submit('[[call:f-1]][[fault:status=429]]')).status, 429)
  assert.ok(booked('f-1').every((entry) => !entry.billed))
})

test('a task that fails carries its error under HTTP 200 and is not billed', async () => {
  const { status, json } = await ended(await create('[[call:f-2]][[fault:fail-task]]'))
  assert.equal(status, 200)
  assert.equal(json.status, 'failed')
  assert.equal(json.error?.code, 'OutputVideoSensitiveContentDetected')
  assert.equal(json.content, undefined)
  assert.deepEqual(
    booked('f-2').map((entry) => [entry.billed, entry.units]),
    [[false, {}]],
  )
})

test('a task that never ends expires after its time', async () => {
  const more = { execution_expires_after: 3600 }
  const id = await create('[[fault:never-ends]]', more)
  const { json } = await untilValue(() => look(id), isOver)
  assert.equal(json.status, 'expired')
})

describe('a submission whose answer is lost: accepted and billed', () => {
  test('answered 504', async () => {
    assert.equal((await submit('[[call:f-3]][[fault:lost-answer]]')).status, 504)
    await untilValue(
      () => booked('f-3'),
      (entries) => entries.some((entry) => entry.billed),
    )
  })
  test('not answered at all', async () => {
    await assert.rejects(submit('[[call:f-4]][[fault:reset-before-head]]'))
    const { json } = await sim.get(PATH, KEYS.ark)
    assert.ok(list(json.items).length >= 1)
    await untilValue(
      () => booked('f-4'),
      (entries) => entries.some((entry) => entry.billed),
    )
  })
})

test('the same id twice is one task', async () => {
  const first = await create('[[call:f-5]][[fault:duplicate-id;polls=1]]')
  assert.equal(await create('[[call:f-6]][[fault:duplicate-id;polls=1]]'), first)
  await look(first)
  assert.equal(booked('f-5').length, 1)
  assert.equal(booked('f-6').length, 0)
})

test('polls are answered 429 and 500 as often as requested', async () => {
  const storm = await create('[[fault:poll-storm=2;polls=3]]')
  const statuses = []
  for (let count = 0; count < 3; count += 1) statuses.push((await look(storm)).status)
  assert.deepEqual(statuses, [429, 429, 200])
  const errors = await create('[[fault:poll-errors=1;polls=1]]')
  assert.equal((await look(errors)).status, 500)
  assert.equal((await look(errors)).json.status, 'succeeded')
})

test('the number of polls decides, not the clock', async () => {
  const id = await create('[[fault:polls=3]]')
  const states = []
  for (let count = 0; count < 3; count += 1) states.push((await look(id)).json.status)
  assert.deepEqual(states, ['queued', 'running', 'succeeded'])
})

test('a record that vanishes was billed all the same', async () => {
  const id = await create('[[call:f-7]][[fault:vanishes;polls=1]]')
  assert.equal((await look(id)).status, 404)
  assert.equal(booked('f-7')[0]?.billed, true)
})

test('a success turns into a failure and back; usage is bent; a file is missing', async () => {
  const flipping = await create('[[fault:flips;polls=1]]')
  const states = []
  for (let count = 0; count < 4; count += 1) states.push((await look(flipping)).json.status)
  assert.deepEqual(states, ['succeeded', 'failed', 'succeeded', 'failed'])
  const none = await look(await create('[[fault:usage=absent;polls=1]]'))
  assert.equal('usage' in none.json, false)
  const wrong = await look(await create('[[fault:usage=negative;polls=1]]'))
  assert.equal(wrong.json.usage?.completion_tokens, -108_900)
  const empty = await look(await create('[[fault:no-result;polls=1]]'))
  assert.deepEqual(empty.json.content, {})
})

describe('refused before anything is created', () => {
  const image = (role?: string) => {
    const item = { type: 'image_url', image_url: { url: 'https://a.example/i.png' } }
    return role === undefined ? item : { ...item, role }
  }
  const audio = { type: 'audio_url', audio_url: { url: 'https://a.example/a.mp3' } }
  const reference = { ...audio, role: 'reference_audio' }
  const old = 'doubao-seedance-1-0-pro-250528'
  const cases: [string, object, string][] = [
    ['no content', { content: undefined }, 'MissingParameter.content'],
    ['no prompt', { content: content(' ') }, 'MissingParameter.content.text'],
    ['an unknown model', { model: 'doubao-nothing' }, 'InvalidEndpointOrModel.NotFound'],
    ['768P', { resolution: '768P' }, 'InvalidParameter'],
    ['4k on a small model', { resolution: '4k', model: old }, 'InvalidParameter'],
    ['3 seconds', { duration: 3 }, 'InvalidParameter'],
    ['16 seconds', { duration: 16 }, 'InvalidParameter'],
    ['-1 on 1.0', { duration: -1, model: old }, 'InvalidParameter'],
    ['a ratio', { ratio: '2:1' }, 'InvalidParameter'],
    ['seed on 2.0', { seed: 5 }, 'InvalidParameter.UnsupportedParameter'],
    ['camera_fixed on 2.0', { camera_fixed: false }, 'InvalidParameter.UnsupportedParameter'],
    ['flex on 2.0', { service_tier: 'flex' }, 'InvalidParameter.UnsupportedParameter'],
    ['a seed too large', { seed: 2 ** 32, model: old }, 'InvalidParameter'],
    ['30 frames', { frames: 30, model: old }, 'InvalidParameter'],
    ['65 characters', { safety_identifier: 'x'.repeat(65) }, 'InvalidParameter'],
    ['a call back by ftp', { callback_url: 'ftp://a' }, 'InvalidParameter'],
    ['audio alone', { content: [reference] }, 'InvalidParameter'],
    ['references on 1.0', { content: [reference], model: old }, 'InvalidParameter'],
    [
      'frames and references',
      { content: [image('first_frame'), image('reference_image')] },
      'InvalidParameter',
    ],
    ['two images without roles', { content: [image(), image()] }, 'InvalidParameter'],
    ['a last frame alone', { content: [image('last_frame')] }, 'InvalidParameter'],
    ['an audio without role', { content: [audio] }, 'InvalidParameter'],
  ]
  for (const [name, more, code] of cases) {
    test(name, async () => {
      const { status, json } = await submit('x', more)
      assert.equal(status, code.endsWith('NotFound') ? 404 : 400)
      assert.equal(json.error?.code, code)
    })
  }
})

test('what is allowed', async () => {
  const old = { model: 'doubao-seedance-1-0-pro-250528', seed: 7, camera_fixed: true, frames: 29 }
  const first = await submit('x --rs 480p --dur 3', { ...old, service_tier: 'flex' })
  assert.equal(first.status, 200)
  const { json } = await ended(String(first.json.id))
  assert.deepEqual([json.seed, json.frames, json.resolution], [7, 29, '480p'])
  assert.equal(json.service_tier, 'flex')
  const safety_identifier = '😀'.repeat(64)
  const chosen = await ended(await create('x', { duration: -1, safety_identifier }))
  assert.equal(chosen.json.duration, 8)
  assert.equal(chosen.json.safety_identifier, safety_identifier)
})
