/** Both of the vendor's video protocols, against answers in the shapes that clients have recorded. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { UpstreamFailure } from '../../../server/wire/upstreams/failure.ts'
import { minimaxVideo as driver } from '../../../server/wire/upstreams/minimax/video.ts'
import { type Recorded, startRecorded, wire } from '../recording-vendor.ts'

const ID = '176843862716480'
const ATTEMPT = { id: 'att_1' }
const SUBMIT_1 = '/v1/video_generation'
const QUERY_1 = `/v1/query/video_generation?task_id=${ID}`
const FILE = '/v1/files/retrieve?file_id=205258526306433'
const QUERY_2 = `/v2/query/video_generation/${ID}`
const DEFAULTS = { resolution: '720p', ratio: 'adaptive', duration: 5, watermark: false }
const OK = { status_code: 0, status_msg: 'success' }
const text = { type: 'text', text: 'a river' }
const image = (name: string, role?: string) => ({
  type: 'image_url',
  image_url: { url: `https://m.example/${name}` },
  ...(role ? { role } : {}),
})

function orderOf(upstreamModel: string, fields: Readonly<Record<string, unknown>>, url = '') {
  const settings = settingsOf(url)
  const parameters = { ...DEFAULTS, content: [text], ...fields }
  return {
    settings,
    upstreamModel,
    parameters,
    sentFields: new Set(Object.keys(fields)),
    details: {},
  }
}

async function pollTask(t: TestContext, model: string, answers: Record<string, Recorded>) {
  const { url } = await startRecorded(t, () => answers)
  const settings = settingsOf(url)
  return driver.poll(wire, { settings, upstreamModel: model, upstreamId: ID })
}

function settingsOf(url: string) {
  return { base_url: url, api_key: 'minimax-key', callbacks: true, stored_ids: 'own' } as const
}

const HAILUO = 'MiniMax-Hailuo-02'
const H3 = 'MiniMax-H3'

test('v1: every field in the vendor’s words; the default length is its shortest', async (t) => {
  const answers = { [SUBMIT_1]: { body: { task_id: ID, base_resp: OK } } }
  const { url, seen } = await startRecorded(t, () => answers)
  const fields = {
    content: [text, image('a.png', 'first_frame'), image('b.png', 'last_frame')],
    resolution: '768P',
    watermark: true,
    prompt_optimizer: false,
    seed: -1,
  }
  const order = orderOf(HAILUO, fields, url)
  assert.deepEqual(driver.prepare(order), {
    quantities: { second: 6 },
    facts: { resolution: '768P', audio: false, video_input: false },
    effective: { resolution: '768P', duration: 6, generate_audio: false },
  })
  assert.deepEqual(await driver.submit(wire, order, ATTEMPT), { upstreamId: ID })
  assert.equal(seen[0]?.headers.authorization, 'Bearer minimax-key')
  assert.deepEqual(JSON.parse(seen[0]?.body ?? ''), {
    model: HAILUO,
    prompt: 'a river',
    duration: 6,
    resolution: '768P',
    first_frame_image: 'https://m.example/a.png',
    last_frame_image: 'https://m.example/b.png',
    aigc_watermark: true,
    prompt_optimizer: false,
  })
})

test('an id that is a number is polled, also when a vendor callback names it', async (t) => {
  const { url } = await startRecorded(t, () => ({
    [SUBMIT_1]: { body: { task_id: 176843862716480, base_resp: OK } },
  }))
  const submitted = await driver.submit(wire, orderOf(HAILUO, { content: [text] }, url), ATTEMPT)
  assert.deepEqual(submitted, { upstreamId: '176843862716480' })
  const callback = driver.callbacks?.read({ task_id: 176843862716480 })
  assert.deepEqual(callback, { upstreamId: '176843862716480' })
})

test('v1: a subject, and a resolution in capitals', async (t) => {
  const answers = { [SUBMIT_1]: { body: { task_id: ID, base_resp: OK } } }
  const { url, seen } = await startRecorded(t, () => answers)
  const content = [text, image('face.png', 'reference_image')]
  await driver.submit(wire, orderOf('S2V-01', { content }, url), ATTEMPT)
  const { resolution, subject_reference: subject } = JSON.parse(seen[0]?.body ?? '')
  assert.equal(resolution, '720P')
  assert.deepEqual(subject, [{ type: 'character', image: ['https://m.example/face.png'] }])
})

for (const [name, model, fields, param] of [
  ['eight seconds', HAILUO, { duration: 8 }, 'duration'],
  ['a length of its choice', HAILUO, { duration: -1 }, 'duration'],
  ['ten seconds of the largest', HAILUO, { duration: 10, resolution: '1080p' }, 'duration'],
  ['ten seconds of the oldest', 'T2V-01', { duration: 10 }, 'duration'],
  ['2K', HAILUO, { resolution: '2K' }, 'resolution'],
  ['a ratio', HAILUO, { ratio: '9:16' }, 'ratio'],
  ['the slower tier', HAILUO, { service_tier: 'flex' }, 'service_tier'],
  ['too long a text', HAILUO, { content: [{ type: 'text', text: 'x'.repeat(2001) }] }, 'content'],
  ['a last frame alone', HAILUO, { content: [image('b.png', 'last_frame')] }, 'content'],
  ['a last frame of 2.3', 'MiniMax-Hailuo-2.3', { content: twoFrames() }, 'content'],
  ['no image for the fast one', 'MiniMax-Hailuo-2.3-Fast', {}, 'content'],
  ['no image for I2V', 'I2V-01-live', {}, 'content'],
  ['an image for T2V', 'T2V-01', { content: [text, image('a.png')] }, 'content'],
  ['no subject', 'S2V-01', {}, 'content'],
  ['a seed', HAILUO, { seed: 7 }, 'seed'],
  ['a seed of H3', H3, { seed: 7 }, 'seed'],
  ['a silent H3', H3, { generate_audio: false }, 'generate_audio'],
  ['a handle of another vendor', H3, { content: handles('asset') }, 'content[0].image_url.url'],
  ['a handle', HAILUO, { content: handles('mm_file') }, 'content[0].image_url.url'],
  ['1080p of H3', H3, { resolution: '1080p' }, 'resolution'],
  ['four seconds of H3-Max', 'MiniMax-H3-Max', { duration: 4 }, 'duration'],
] as const) {
  test(`refused before anything is held: ${name}`, () => {
    assert.throws(
      () => driver.prepare(orderOf(model, fields)),
      ({ kind, details }: UpstreamFailure) => kind === 'rejected' && details.param === param,
    )
  })
}

function handles(scheme: string) {
  return [{ type: 'image_url', image_url: { url: `${scheme}://205258526306433` } }]
}

test('an emoji is one character of a text', () => {
  const content = [{ type: 'text', text: '😀'.repeat(2000) }]
  driver.prepare(orderOf(HAILUO, { content }))
})

test('H3 takes its own handles', () => {
  driver.prepare(orderOf(H3, { content: handles('mm_file') }))
})

function twoFrames() {
  return [image('a.png', 'first_frame'), image('b.png', 'last_frame')]
}

for (const [status, state] of [
  ['Preparing', 'queued'],
  ['Queueing', 'queued'],
  ['Processing', 'processing'],
] as const) {
  test(`v1: ${status} is ${state}`, async (t) => {
    const body = { task_id: ID, status, file_id: '', base_resp: OK }
    assert.deepEqual(await pollTask(t, HAILUO, { [QUERY_1]: { body } }), { state })
  })
}

const SUCCESS = {
  task_id: ID,
  status: 'Success',
  file_id: '205258526306433',
  base_resp: OK,
  video_width: 1366,
  video_height: 768,
}

test('v1: after a success its file is requested', async (t) => {
  const file = { file_id: 205258526306433, download_url: 'https://cdn.example/o.mp4' }
  const answers = { [QUERY_1]: { body: SUCCESS }, [FILE]: { body: { file, base_resp: OK } } }
  assert.deepEqual(await pollTask(t, HAILUO, answers), {
    state: 'succeeded',
    result: { video_url: 'https://cdn.example/o.mp4', width: 1366, height: 768 },
  })
})

for (const [name, file] of [
  ['cannot be had now', { status: 500 }],
  ['is refused for load', { body: { base_resp: { status_code: 1002, status_msg: 'slow down' } } }],
  ['has no address', { body: { file: {}, base_resp: OK } }],
] as const) {
  test(`v1: a file that ${name} is asked for again`, async (t) => {
    const answers = { [QUERY_1]: { body: SUCCESS }, [FILE]: file }
    await assert.rejects(pollTask(t, HAILUO, answers), { name: 'UpstreamFailure' })
  })
}

for (const [name, model, answers, code] of [
  ['v1: Fail', HAILUO, v1({ status: 'Fail', base_resp: OK }), 'task_failed'],
  ['v1: Fail with a code', HAILUO, v1({ status: 'Fail', base_resp: refused(1027) }), '1027'],
  ['v1: a verdict alone', HAILUO, v1({ base_resp: refused(1026) }), '1026'],
  ['v2: failed', H3, v2({ status: 'failed', error: { code: 1027, message: 'policy' } }), '1027'],
  ['v2: failed without words', H3, v2({ status: 'failed' }), 'task_failed'],
  ['v2: expired', H3, v2({ status: 'expired' }), 'task_expired'],
  ['v2: cancelled', H3, v2({ status: 'cancelled' }), 'cancelled'],
  ['v2: a verdict alone', H3, { [QUERY_2]: { body: { base_resp: refused(1027) } } }, '1027'],
] as const) {
  test(`${name} is the end of the task`, async (t) => {
    const seen = await pollTask(t, model, answers)
    assert.deepEqual([seen.state, 'code' in seen && seen.code], ['failed', code])
  })
}

function refused(status_code: number) {
  return { status_code, status_msg: 'refused' }
}

function v1(task: object): Record<string, Recorded> {
  return { [QUERY_1]: { body: { task_id: ID, ...task } } }
}

function v2(task: object): Record<string, Recorded> {
  return { [QUERY_2]: { body: { task: { id: ID, ...task } } } }
}

for (const [name, model, answers] of [
  ['v1: an unknown status', HAILUO, v1({ status: 'Pondering', base_resp: OK })],
  ['v2: an unknown status', H3, v2({ status: 'pondering' })],
  ['v1: a wrong key', HAILUO, v1({ base_resp: refused(1004) })],
  ['v1: a busy vendor', HAILUO, { [QUERY_1]: { status: 429, body: {} } }],
] as const) {
  test(`${name} is an error of the poll, not the end of the task`, async (t) => {
    await assert.rejects(pollTask(t, model, answers), { name: 'UpstreamFailure' })
  })
}

for (const [code, kind] of [
  [1002, 'busy'],
  [1004, 'channel_fault'],
  [1008, 'channel_fault'],
  [1026, 'rejected'],
  [1027, 'rejected'],
  [2013, 'rejected'],
  [2049, 'channel_fault'],
  [1000, 'failed'],
] as const) {
  test(`a submission under HTTP 200 with ${code} is ${kind}, in both protocols`, async (t) => {
    const body = { task_id: '', base_resp: refused(code) }
    const answers = { [SUBMIT_1]: { body }, '/v2/video_generation': { body } }
    const { url } = await startRecorded(t, () => answers)
    for (const model of [HAILUO, H3]) {
      await assert.rejects(driver.submit(wire, orderOf(model, {}, url), ATTEMPT), { kind })
    }
  })
}

test('the callback address is sent; where the vendor refuses it, the task is created without', async (t) => {
  const attempt = { ...ATTEMPT, vendorCallbackUrl: 'https://gateway.example/hook' }
  const unreachable = { ...refused(2013), status_msg: 'invalid params, fail to check callback url' }
  for (const [model, path] of [
    [HAILUO, SUBMIT_1],
    [H3, '/v2/video_generation'],
  ] as const) {
    const answers = [{ base_resp: unreachable }, { task_id: ID, base_resp: OK }]
    const { url, seen } = await startRecorded(t, () => ({ [path]: { body: answers.shift() } }))
    assert.deepEqual(await driver.submit(wire, orderOf(model, {}, url), attempt), {
      upstreamId: ID,
    })
    assert.deepEqual(
      seen.map(({ body }) => JSON.parse(body).callback_url),
      [attempt.vendorCallbackUrl, undefined],
    )
  }
})

test('a refusal about anything else is not tried again', async (t) => {
  const attempt = { ...ATTEMPT, vendorCallbackUrl: 'https://gateway.example/hook' }
  const body = { base_resp: refused(2013) }
  const { url, seen } = await startRecorded(t, () => ({ [SUBMIT_1]: { body } }))
  const submission = driver.submit(wire, orderOf(HAILUO, {}, url), attempt)
  await assert.rejects(submission, { kind: 'rejected' })
  assert.equal(seen.length, 1)
})

test('reports: the id in either form, the challenge as it came, and nothing from anything else', () => {
  const read = (body: object) => driver.callbacks?.read(body as Record<string, unknown>)
  assert.deepEqual(read({ challenge: 'abc' }), { reply: { challenge: 'abc' } })
  assert.deepEqual(read({ task_id: ID, status: 'success', base_resp: OK }), { upstreamId: ID })
  assert.deepEqual(read({ task: { id: ID, status: 'running' } }), { upstreamId: ID })
  for (const odd of [{}, { task: 7 }, { task_id: {} }, { challenge: 'x'.repeat(1_001) }]) {
    assert.deepEqual(read(odd), { upstreamId: undefined })
  }
})

test('v1 and v2: a task that the vendor does not know is gone', async (t) => {
  const body = { base_resp: refused(2013) }
  for (const [model, path] of [
    [HAILUO, QUERY_1],
    [H3, QUERY_2],
  ] as const) {
    assert.deepEqual(await pollTask(t, model, { [path]: { status: 404, body } }), { state: 'gone' })
    // The page of a proxy says nothing about the task.
    await assert.rejects(pollTask(t, model, {}), { kind: 'channel_fault' })
  }
})

for (const [usage, stated] of [
  [
    { total_seconds: 15, output_seconds: 5, input_image_count: 9 },
    { second: 15, image: 4 },
  ],
  [
    { total_seconds: 5, input_image_count: 2 },
    { second: 5, image: 0 },
  ],
  [{ total_seconds: null, input_seconds: 10, output_seconds: 5 }, { second: 15 }],
  [{ output_seconds: 5 }, undefined],
  [{ total_seconds: 'fifteen' }, undefined],
  [{ total_seconds: '5', input_image_count: 6.5 }, { second: 5 }],
  [{ total_seconds: 5, input_image_count: 'nine' }, { second: 5 }],
  [{ total_seconds: -5, input_image_count: -9 }, undefined],
  [{ total_seconds: 5, input_image_count: null }, { second: 5 }],
  [{}, undefined],
  [null, undefined],
] as const) {
  test(`v2: usage of ${JSON.stringify(usage)} states ${JSON.stringify(stated)}`, async (t) => {
    const task = { id: ID, status: 'succeeded', content: { url: 'https://m.example/v' }, usage }
    const poll = await pollTask(t, H3, { [QUERY_2]: { body: { task: { ...task, duration: 5 } } } })
    assert.equal(poll.state, 'succeeded')
    assert.deepEqual('usage' in poll ? poll.usage : undefined, stated)
    assert.equal('measured' in poll, false, 'its duration says nothing of input videos')
  })
}

test('v1: silent models serve a request for no sound', () => {
  for (const generate_audio of [false, true]) driver.prepare(orderOf(HAILUO, { generate_audio }))
})
