/** Both generations of the vendor's protocol, against answers in its documented shapes. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { jwtVerify } from 'jose'
import type { UpstreamFailure } from '../../server/wire/upstreams/failure.ts'
import { newerNameOf, olderNameOf } from '../../server/wire/upstreams/kling/models.ts'
import { klingSettings, signToken } from '../../server/wire/upstreams/kling/settings.ts'
import { klingVideo as driver } from '../../server/wire/upstreams/kling/video.ts'
import { type Recorded, startRecorded, wire } from './recording-vendor.ts'

const ATTEMPT = { id: 'att_1' }
const DEFAULTS = { resolution: '720p', ratio: 'adaptive', duration: 5, generate_audio: true }
const text = { type: 'text', text: 'a river' }
const frame = (role: string, url = `https://m.example/${role}`) => ({
  type: 'image_url',
  image_url: { url },
  role,
})
const settingsOf = (url: string, older: boolean) =>
  older
    ? { base_url: url, access_key: 'ak-test', secret_key: 'sk-test' }
    : { base_url: url, api_key: 'key' }

function orderOf(
  model: string,
  fields: Readonly<Record<string, unknown>>,
  url = '',
  older = false,
) {
  return {
    settings: settingsOf(url, older),
    upstreamModel: model,
    parameters: { ...DEFAULTS, content: [text], ...fields },
    sentFields: new Set(Object.keys(fields)),
    details: {},
  }
}

async function poll(t: TestContext, upstreamId: string, path: string, recorded: Recorded) {
  const { url } = await startRecorded(t, () => ({ [path]: recorded }))
  const settings = settingsOf(url, upstreamId.includes('/'))
  return driver.poll(wire, { settings, upstreamModel: 'kling-3.0', upstreamId })
}

test('a token is the vendor’s own, without the time of its issue', () => {
  assert.equal(
    signToken('ak-test', 'sk-test', 1_700_000_000),
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJhay10ZXN0IiwiZXhwIjoxNzAwMDAxODAwLCJuYmYiOjE2OTk5OTk5OTV9.tMljlG8Xy1G8AKj5WkEZRcRIADvbH0FP6wgzpwHAfs4',
  )
})

test('another library verifies a token, of any key, from five seconds before it was signed', async () => {
  for (const secret of ['sk-test', 'ключ 🔑', 'x'.repeat(200)]) {
    const token = signToken('ak 1', secret, 1_700_000_000)
    const verify = (seconds: number) =>
      jwtVerify(token, Buffer.from(secret), { currentDate: new Date(seconds * 1_000) })
    const { payload, protectedHeader } = await verify(1_699_999_995)
    assert.deepEqual(protectedHeader, { alg: 'HS256', typ: 'JWT' })
    assert.deepEqual(payload, { iss: 'ak 1', exp: 1_700_001_800, nbf: 1_699_999_995 })
    await assert.rejects(verify(1_699_999_994))
    await assert.rejects(verify(1_700_001_801))
  }
})

test('settings need a key, or both of the pair', () => {
  const good = [{ api_key: 'k' }, { access_key: 'a', secret_key: 's' }]
  for (const one of good) assert.ok(klingSettings.safeParse(one).success)
  for (const one of [{}, { access_key: 'a' }, { secret_key: 's' }, { api_key: '' }]) {
    assert.ok(!klingSettings.safeParse(one).success, JSON.stringify(one))
  }
})

test('a model has one name in each generation', () => {
  for (const [newer, older] of [
    ['kling-3.0', 'kling-v3'],
    ['kling-3.0-turbo', 'kling-v3-turbo'],
    ['kling-2.6', 'kling-v2-6'],
    ['kling-2.5-turbo', 'kling-v2-5-turbo'],
    ['kling-o1', 'kling-o1'],
  ] as const) {
    assert.deepEqual([newerNameOf(older), newerNameOf(newer)], [newer, newer])
    assert.deepEqual([olderNameOf(older), olderNameOf(newer)], [older, older])
  }
  assert.equal(olderNameOf('kling-v2-master'), 'kling-v2-master')
})

test('newer: text, and frames with an own id', async (t) => {
  const body = { code: 0, data: { id: '8801', status: 'submitted' } }
  const { url, seen } = await startRecorded(t, () => ({
    '/text-to-video/kling-3.0': { body },
    '/image-to-video/kling-3.0': { body },
  }))
  const plain = orderOf('kling-3.0', { ratio: '9:16', duration: 7 }, url)
  assert.deepEqual(driver.prepare(plain), {
    quantities: { second: 7 },
    facts: { resolution: '720p', audio: true, video_input: false },
    effective: { resolution: '720p', duration: 7, ratio: '9:16', generate_audio: true },
  })
  assert.deepEqual(await driver.submit(wire, plain, ATTEMPT), { upstreamId: '8801' })
  const content = [text, frame('first_frame'), frame('last_frame')]
  const fields = { content, generate_audio: false, resolution: '4k', watermark: true }
  await driver.submit(wire, orderOf('kling-v3', fields, url), ATTEMPT)
  assert.deepEqual(
    seen.map((one) => JSON.parse(one.body)),
    [
      {
        prompt: 'a river',
        settings: { resolution: '720p', duration: 7, aspect_ratio: '9:16', audio: 'native' },
        options: { external_task_id: 'att_1' },
      },
      {
        contents: [
          { type: 'prompt', text: 'a river' },
          { type: 'first_frame', url: 'https://m.example/first_frame' },
          { type: 'last_frame', url: 'https://m.example/last_frame' },
        ],
        settings: { resolution: '4k', duration: 5, audio: 'off' },
        options: { external_task_id: 'att_1', watermark_info: { enabled: true } },
      },
    ],
  )
})

test('dots are no id', async (t) => {
  const body = { code: 0, data: { task_id: '..' } }
  const { url } = await startRecorded(t, () => ({ '/v1/videos/text2video': { body } }))
  const order = orderOf('kling-v3', {}, url, true)
  await assert.rejects(driver.submit(wire, order, ATTEMPT), { kind: 'unknown' })
})

test('older: the words, texts and bare base64 of that generation, with a signed token', async (t) => {
  const body = { code: 0, data: { task_id: '8802', task_status: 'submitted' } }
  const { url, seen } = await startRecorded(t, () => ({ '/v1/videos/image2video': { body } }))
  const content = [text, frame('first_frame', 'data:image/png;base64,AAAA')]
  const order = orderOf('kling-2.6', { content, resolution: '1080p' }, url, true)
  assert.deepEqual(await driver.submit(wire, order, ATTEMPT), { upstreamId: '8802' })
  assert.match(seen[0]?.headers.authorization ?? '', /^Bearer eyJ[^.]+\.[^.]+\.[^.]+$/)
  assert.deepEqual(JSON.parse(seen[0]?.body ?? ''), {
    model_name: 'kling-v2-6',
    prompt: 'a river',
    image: 'AAAA',
    mode: 'pro',
    duration: '5',
    sound: 'on',
    external_task_id: 'att_1',
  })
})

for (const [name, model, fields, param] of [
  ['seven seconds of 2.6', 'kling-2.6', { duration: 7 }, 'duration'],
  ['a length of its choice', 'kling-3.0', { duration: -1 }, 'duration'],
  ['4k of turbo', 'kling-3.0-turbo', { resolution: '4k' }, 'resolution'],
  ['sound of 2.6 in 720p', 'kling-2.6', { generate_audio: true }, 'generate_audio'],
  ['a silent turbo', 'kling-3.0-turbo', { generate_audio: false }, 'generate_audio'],
  ['another ratio', 'kling-3.0', { ratio: '21:9' }, 'ratio'],
  ['a seed', 'kling-3.0', { seed: 7 }, 'seed'],
  ['a last frame in 720p', 'kling-2.6', { content: both() }, 'resolution'],
  ['a last frame of turbo', 'kling-3.0-turbo', { content: both() }, 'content'],
] as const) {
  test(`refused before anything is held: ${name}`, () => {
    assert.throws(
      () => driver.prepare(orderOf(model, fields)),
      ({ kind, details }: UpstreamFailure) => kind === 'rejected' && details.param === param,
    )
  })
}

function both() {
  return [text, frame('first_frame'), frame('last_frame')]
}

test('sound has its price where it is made', () => {
  for (const [model, fields, audio] of [
    ['kling-3.0', {}, true],
    ['kling-3.0', { generate_audio: false }, false],
    ['kling-2.6', {}, false],
    ['kling-2.6', { resolution: '1080p' }, true],
    ['kling-2.5-turbo', {}, false],
    ['kling-3.0-turbo', {}, true],
  ] as const) {
    assert.equal(driver.prepare(orderOf(model, fields)).facts.audio, audio, model)
  }
})

const URL = 'https://m.example/v.mp4'

test('an end in either generation, and an unknown id', async (t) => {
  const newer = '/tasks?task_ids=8801'
  const older = '/v1/videos/text2video/8802'
  const film = { type: 'video', url: URL, duration: '5.041' }
  const done = {
    status: 'succeeded',
    outputs: [{ type: 'audio', mp3_url: 'x' }, film],
    billing: [{ charge_type: 'unit', amount: '4.0' }],
  }
  const result = { video_url: URL, duration: 5.041, usage: { billed: '4.0' } }
  const answered = { state: 'succeeded', result }
  assert.deepEqual(await poll(t, '8801', newer, { body: { code: 0, data: [done] } }), answered)
  const data = {
    task_status: 'succeed',
    task_result: { videos: [{ url: URL, duration: '5.041' }] },
    final_unit_deduction: '4.0',
  }
  const found = await poll(t, 'text2video/8802', older, { body: { code: 0, data } })
  assert.deepEqual(found, answered)
  for (const [id, path, body] of [
    ['8801', newer, { code: 0, data: [{ status: 'failed', message: 'risk control' }] }],
    [
      'text2video/8802',
      older,
      { code: 0, data: { task_status: 'failed', task_status_msg: 'risk control' } },
    ],
  ] as const) {
    const failed = { state: 'failed', code: 'task_failed', message: 'risk control' }
    assert.deepEqual(await poll(t, id, path, { body }), failed)
  }
  for (const bill of [
    { final_unit_deduction: '2.5' },
    { final_balance_deduction: { quota: '0.35' } },
    { billing: [{ charge_type: 'cash', amount: '0.35' }] },
  ]) {
    const body = { code: 0, data: { task_status: 'failed', task_status_msg: 'late', ...bill } }
    const billed = await poll(t, 'text2video/8802', older, { body })
    assert.equal('isBilled' in billed && billed.isBilled, true, JSON.stringify(bill))
  }
  const free = { status: 'failed', message: 'no', billing: [{ amount: '0' }] }
  const unbilled = await poll(t, '8801', newer, { body: { code: 0, data: [free] } })
  assert.deepEqual(unbilled, { state: 'failed', code: 'task_failed', message: 'no' })
  assert.deepEqual(await poll(t, '8801', newer, { body: { code: 0, data: [] } }), { state: 'gone' })
  const gone = { status: 404, body: { code: 1203, message: 'no' } }
  assert.deepEqual(await poll(t, 'text2video/8802', older, gone), { state: 'gone' })
})

test('a task of the older generation is read at the path that created it, by the vendor’s id', async (t) => {
  const image = { type: 'image_url' }
  for (const [upstreamId, content, path] of [
    ['8802', [text], '/v1/videos/text2video/8802'],
    ['8802', [text, image], '/v1/videos/image2video/8802'],
    ['..', [text], '/tasks?task_ids=..'],
    // Version 0.3.0 wrote the path into the id.
    ['image2video/8802', [text], '/v1/videos/image2video/8802'],
    ['text2video/8802', undefined, '/v1/videos/text2video/8802'],
  ] as const) {
    const body = { code: 0, data: { task_status: 'processing' } }
    const { url, seen } = await startRecorded(t, () => ({ [path]: { body } }))
    const reference = { settings: settingsOf(url, true), upstreamModel: 'kling-v3', upstreamId }
    const parameters = content === undefined ? {} : { content }
    const state = { state: 'processing' }
    assert.deepEqual(await driver.poll(wire, { ...reference, parameters }), state)
    assert.equal(seen[0]?.path, path)
  }
})

test('an id of the vendor’s cannot lead to another path', async (t) => {
  const { url, seen } = await startRecorded(t, () => ({}))
  for (const upstreamId of ['../../account', 'text2video/a?b', 'other/1', 'a&b=c']) {
    const reference = { settings: settingsOf(url, false), upstreamModel: 'kling-3.0', upstreamId }
    await assert.rejects(driver.poll(wire, reference), { kind: 'channel_fault' })
  }
  assert.equal(seen.length, 4)
  for (const { path } of seen)
    assert.match(path, /^\/(?:tasks\?task_ids=[^/&]+|v1\/videos\/text2video\/[^/]+)$/)
})

for (const [status, code, kind] of [
  [401, 1002, 'channel_fault'],
  [429, 1101, 'channel_fault'],
  [429, 1102, 'channel_fault'],
  [403, 1103, 'channel_fault'],
  [400, 1201, 'rejected'],
  [400, 1301, 'rejected'],
  [429, 1302, 'busy'],
  [429, 1303, 'busy'],
  [429, 1304, 'channel_fault'],
  [504, 5002, 'unknown'],
  [500, 5000, 'unknown'],
  [200, 1201, 'rejected'],
  [200, 7777, 'unknown'],
  [500, undefined, 'unknown'],
  [502, 1, 'unknown'],
] as const) {
  test(`${status} with ${code} is ${kind}`, async (t) => {
    const answer = { status, body: { code, message: 'no' } }
    const { url } = await startRecorded(t, () => ({ '/text-to-video/kling-3.0': answer }))
    const submission = driver.submit(wire, orderOf('kling-3.0', {}, url), ATTEMPT)
    await assert.rejects(submission, (failure: UpstreamFailure) => {
      // One that states itself would be taken for a refusal.
      assert.equal(failure.details.isStated, kind !== 'unknown')
      return failure.kind === kind
    })
  })
}

test('an accepted task is taken however the vendor writes its zero', async (t) => {
  for (const code of [0, '0', null, undefined]) {
    const body = { code, data: { id: '8' } }
    const { url } = await startRecorded(t, () => ({ '/text-to-video/kling-3.0': { body } }))
    const submitted = await driver.submit(wire, orderOf('kling-3.0', {}, url), ATTEMPT)
    assert.deepEqual(submitted, { upstreamId: '8' })
  }
})

for (const data of [undefined, {}, 'x', [{}], [7], [{ id: '8', external_id: 'att_2' }]]) {
  test(`a lost task: ${JSON.stringify(data)} proves nothing`, async (t) => {
    const answers = { '/tasks?external_task_ids=att_1': { body: { code: 0, data } } }
    const { url } = await startRecorded(t, () => answers)
    const lost = { settings: settingsOf(url, false), upstreamModel: 'kling-3.0', attempt: ATTEMPT }
    await assert.rejects(Promise.resolve(driver.recover?.(wire, lost)), { kind: 'failed' })
  })
}

for (const [id, path] of [
  ['text2video/..', '/tasks?task_ids=text2video%2F..'],
  ['text2video/../x', '/v1/videos/text2video/..%2Fx'],
  ['image2video/a/../b', '/v1/videos/image2video/a%2F..%2Fb'],
] as const) {
  test(`the id ${id} leads to no other path`, async (t) => {
    const { url, seen } = await startRecorded(t, () => ({ [path]: { body: { data: [] } } }))
    const settings = settingsOf(url, false)
    await driver.poll(wire, { settings, upstreamModel: 'kling-3.0', upstreamId: id })
    assert.deepEqual(
      seen.map((one) => one.path),
      [path],
    )
  })
}

test('a lost task is found by the attempt’s id, and its absence is certain', async (t) => {
  const missing = { status: 404, body: { code: 1203, message: 'no' } }
  const cases: readonly [boolean, Record<string, Recorded>, string | undefined][] = [
    [false, { '/tasks?external_task_ids=att_1': { body: { data: [{ id: '8' }] } } }, '8'],
    [false, { '/tasks?external_task_ids=att_1': { body: { data: [] } } }, undefined],
    [
      true,
      {
        '/v1/videos/text2video/att_1': missing,
        '/v1/videos/image2video/att_1': { body: { data: { task_id: '9' } } },
      },
      '9',
    ],
    [
      true,
      { '/v1/videos/text2video/att_1': missing, '/v1/videos/image2video/att_1': missing },
      undefined,
    ],
  ]
  for (const [older, answers, id] of cases) {
    const { url } = await startRecorded(t, () => answers)
    const settings = settingsOf(url, older)
    const lost = { settings, upstreamModel: 'kling-3.0', attempt: ATTEMPT }
    assert.equal((await driver.recover?.(wire, lost))?.upstreamId, id)
  }
  // A page of a proxy is no absence.
  const { url } = await startRecorded(t, () => ({}))
  const lost = { settings: settingsOf(url, true), upstreamModel: 'kling-3.0', attempt: ATTEMPT }
  await assert.rejects(Promise.resolve(driver.recover?.(wire, lost)), { kind: 'channel_fault' })
})
