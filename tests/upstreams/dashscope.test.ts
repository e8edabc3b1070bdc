/** Alibaba's platform: videos and pictures, against answers in the vendor's documented shapes. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { judgeDashscopeImage } from '../../server/wire/upstreams/dashscope/image.ts'
import { dashscope } from '../../server/wire/upstreams/dashscope/index.ts'
import { dashscopeVideo as driver } from '../../server/wire/upstreams/dashscope/video.ts'
import type { UpstreamFailure } from '../../server/wire/upstreams/failure.ts'
import type { CallRequest } from '../../server/wire/upstreams/upstream.ts'
import { type Recorded, startRecorded, wire } from './recording-vendor.ts'

const CREATE = '/api/v1/services/aigc/video-generation/video-synthesis'
const PICTURE = '/api/v1/services/aigc/multimodal-generation/generation'
const DEFAULTS = { resolution: '720p', ratio: 'adaptive', duration: 5, seed: -1 }
const text = { type: 'text', text: 'a river' }
const medium = (type: 'image' | 'video' | 'audio', role?: string) => ({
  type: `${type}_url`,
  [`${type}_url`]: { url: `https://m.example/${type}` },
  ...(role ? { role } : {}),
})

function orderOf(upstreamModel: string, fields: Readonly<Record<string, unknown>>, url = '') {
  return {
    settings: { base_url: url, api_key: 'wan-key' },
    upstreamModel,
    parameters: { ...DEFAULTS, content: [text], ...fields },
    sentFields: new Set(Object.keys(fields)),
    details: {},
  }
}

async function poll(t: TestContext, body: unknown) {
  const { url } = await startRecorded(t, () => ({ '/api/v1/tasks/1': { body } }))
  const settings = { base_url: url, api_key: 'k' }
  return driver.poll(wire, { settings, upstreamModel: 'wan3.0-video', upstreamId: '1' })
}

test('a submission has every field in the vendor’s words, and asks for a task', async (t) => {
  const body = { output: { task_id: 't-1', task_status: 'PENDING' } }
  const { url, seen } = await startRecorded(t, () => ({ [CREATE]: { body } }))
  const content = [text, medium('image', 'reference_image'), medium('video')]
  const fields = { content, ratio: '21:9', seed: 7, watermark: true, prompt_extend: false }
  const order = orderOf('wan3.0-video', fields, url)
  assert.deepEqual(driver.prepare(order), {
    quantities: { second: 20 },
    facts: { resolution: '720p', audio: true, video_input: true },
    effective: { resolution: '720p', duration: 5, ratio: '21:9', generate_audio: true },
  })
  assert.deepEqual(await driver.submit(wire, order, { id: 'a' }), { upstreamId: 't-1' })
  assert.equal(seen[0]?.headers['x-dashscope-async'], 'enable')
  assert.equal(seen[0]?.headers.authorization, 'Bearer wan-key')
  assert.deepEqual(JSON.parse(seen[0]?.body ?? ''), {
    model: 'wan3.0-video',
    input: {
      prompt: 'a river',
      media: [
        { type: 'reference_image', url: 'https://m.example/image' },
        { type: 'reference_video', url: 'https://m.example/video' },
      ],
    },
    parameters: {
      resolution: '720P',
      duration: 5,
      ratio: '21:9',
      prompt_extend: false,
      seed: 7,
      watermark: true,
    },
  })
})

for (const [model, fields, second] of [
  ['wan3.0-video', { duration: -1 }, 30],
  ['wan3.0-video', { duration: 28, content: [text, medium('video')] }, 30],
  ['wan2.7-r2v', { content: [text, medium('video')] }, 10],
  ['wan2.7-videoedit', { content: [text, medium('video')] }, 15],
  ['wan2.7-t2v', {}, 5],
] as const) {
  test(`${model} ${JSON.stringify(fields).slice(0, 40)} is held for ${second} seconds`, () => {
    assert.equal(driver.prepare(orderOf(model, fields)).quantities.second, second)
  })
}

for (const [name, model, fields, param] of [
  ['a length of its choice', 'wan2.7-t2v', { duration: -1 }, 'duration'],
  ['480p of 2.7', 'wan2.7-t2v', { resolution: '480p' }, 'resolution'],
  ['a ratio beside a frame', 'wan2.7-i2v', { content: frames(), ratio: '16:9' }, 'ratio'],
  ['text alone for i2v', 'wan2.7-i2v', {}, 'content'],
  ['frames and references', 'wan3.0-video', { content: [...frames(), medium('video')] }, 'content'],
  ['a text that would be cut', 'wan3.0-video', { content: long(20_001) }, 'content'],
  ['no sound of 2.7', 'wan2.7-t2v', { generate_audio: false }, 'generate_audio'],
  ['what Wan 3 has not', 'wan3.0-video', { negative_prompt: 'x' }, 'negative_prompt'],
] as const) {
  test(`refused before anything is held: ${name}`, () => {
    assert.throws(
      () => driver.prepare(orderOf(model, fields)),
      ({ kind, details }: UpstreamFailure) => kind === 'rejected' && details.param === param,
    )
  })
}

function frames() {
  return [medium('image', 'first_frame')]
}

function long(length: number) {
  return [{ type: 'text', text: 'x'.repeat(length) }]
}

const URL = 'https://m.example/v.mp4'
for (const [usage, second] of [
  [{ duration: 10, output_video_duration: 5, input_video_duration: 5 }, 10],
  [{ duration: 13.24 }, 14],
  [{ output_video_duration: 5, input_video_duration: 3.5 }, 9],
  [{ video_duration: 5 }, 5],
  [JSON.stringify({ duration: 6, SR: 1080 }), 6],
  [{ duration: -5 }, undefined],
  [{ duration: '5' }, 5],
  [{ duration: '5.2', SR: 720 }, 6],
  [{ input_video_duration: '3.5', output_video_duration: '5' }, 9],
  [{ duration: '0', video_duration: '5' }, 5],
  [{ duration: '5s' }, undefined],
  [{ duration: '0x10' }, undefined],
  ['not json', undefined],
  [null, undefined],
] as const) {
  test(`usage ${JSON.stringify(usage)} states ${second} seconds`, async (t) => {
    const output = { task_status: 'SUCCEEDED', video_url: URL }
    const polled = await poll(t, { output, usage })
    assert.equal(polled.state, 'succeeded')
    assert.deepEqual('usage' in polled ? polled.usage?.second : undefined, second)
  })
}

test('the resolution of the answer decides the price', async (t) => {
  const output = { task_status: 'SUCCEEDED', video_url: URL }
  const polled = await poll(t, { output, usage: { duration: 5, SR: 1080 } })
  assert.deepEqual('facts' in polled && polled.facts, { resolution: '1080p' })
})

test('each state, and an unknown id under HTTP 200', async (t) => {
  const refused = { code: 'DataInspectionFailed', message: 'no' }
  for (const [output, expected] of [
    [{ task_status: 'PENDING' }, { state: 'queued' }],
    [{ task_status: 'SUSPENDED' }, { state: 'queued' }],
    [{ task_status: 'RUNNING' }, { state: 'processing' }],
    [{ task_status: 'UNKNOWN' }, { state: 'gone' }],
    [
      { task_status: 'FAILED', ...refused },
      { state: 'failed', ...refused },
    ],
  ] as const) {
    assert.deepEqual(await poll(t, { output }), expected)
  }
  const billed = await poll(t, { output: { task_status: 'FAILED' }, usage: { duration: '5' } })
  assert.equal('isBilled' in billed && billed.isBilled, true)
  const ended = await poll(t, { output: { task_status: 'CANCELED' } })
  assert.equal('cancelled' in ended && ended.cancelled, true)
})

for (const [status, code, kind] of [
  [400, 'InvalidParameter', 'rejected'],
  [400, 'DataInspectionFailed', 'rejected'],
  [400, 'Arrearage', 'channel_fault'],
  [401, 'InvalidApiKey', 'channel_fault'],
  [403, 'Model.AccessDenied', 'channel_fault'],
  [403, 'AllocationQuota.FreeTierOnly', 'channel_fault'],
  [429, 'PostpaidBillOverdue', 'channel_fault'],
  [429, 'Throttling.AllocationQuota', 'busy'],
  [429, 'insufficient_quota', 'busy'],
  [404, 'ModelNotFound', 'channel_fault'],
  [500, 'InternalError.Timeout', 'unknown'],
  [503, 'ModelUnavailable', 'busy'],
  [200, 'InvalidParameter', 'rejected'],
] as const) {
  test(`${status} ${code} of a creation is ${kind}`, async (t) => {
    const answer: Recorded = { status, body: { code, message: 'no', request_id: 'r' } }
    const { url } = await startRecorded(t, () => ({ [CREATE]: answer }))
    const order = orderOf('wan3.0-video', {}, url)
    await assert.rejects(driver.submit(wire, order, { id: 'a' }), { kind })
  })
}

test('the list is read to its last page, and an endless one is no absence', async (t) => {
  const rows = [
    { task_id: 'new', gmt_create: 2_000 },
    { task_id: 'old', gmt_create: 10 },
  ]
  const page = (number: number) =>
    `/api/v1/tasks/?model_name=wan3.0-video&page_no=${number}&page_size=100`
  for (const [pages, expected] of [
    [2, [{ upstreamId: 'new', createdAt: new Date(2_000) }]],
    [99, undefined],
  ] as const) {
    const { url } = await startRecorded(t, () =>
      Object.fromEntries(
        Array.from({ length: 30 }, (_, at) => [
          page(at + 1),
          { body: { total_page: pages, data: at === 0 ? rows : [rows[1]] } },
        ]),
      ),
    )
    const query = {
      settings: { base_url: url, api_key: 'k' },
      upstreamModel: 'wan3.0-video',
      since: new Date(1_000),
    }
    if (expected) assert.deepEqual(await driver.list?.(wire, query), expected)
    else await assert.rejects(Promise.resolve(driver.list?.(wire, query)), { kind: 'failed' })
  }
})

test('a cancel of a task that runs is refused, not failed', async (t) => {
  const refused = { status: 400, body: { code: 'UnsupportedOperation', message: 'no' } }
  for (const [answer, expected] of [
    [{ body: { request_id: 'r' } }, true],
    [refused, false],
  ] as const) {
    const { url } = await startRecorded(t, () => ({ '/api/v1/tasks/1/cancel': answer }))
    const settings = { base_url: url, api_key: 'k' }
    const reference = { settings, upstreamModel: 'wan3.0-video', upstreamId: '1' }
    assert.equal(await driver.cancel?.(wire, reference), expected)
  }
})

async function draw(t: TestContext, value: Record<string, unknown>, answer: Recorded) {
  const { url, seen } = await startRecorded(t, () => ({ [PICTURE]: answer }))
  const settings = { base_url: url, api_key: 'k' }
  const request: CallRequest = {
    body: Buffer.alloc(0),
    fields: new Map(),
    value: { model: 'm', prompt: 'a river', ...value },
    headers: {},
    requestId: 'r',
    createdAtSeconds: 1,
    model: 'm',
    stream: false,
    estimateInputTokens: () => 1,
  }
  const adapter = dashscope.calls.image
  assert.ok(adapter)
  const answered = await adapter(wire, { settings, upstreamModel: 'qwen-image-3.0', request })
  for await (const chunk of answered.body) answered.relay.push(chunk)
  const out = JSON.parse(answered.relay.end()?.toString() ?? 'null')
  const report = answered.relay.report()
  return { sent: JSON.parse(seen[0]?.body ?? ''), out, report, refusal: answered.refusal?.(report) }
}

const choicesOf = (...images: string[]) => ({
  choices: [{ message: { content: images.map((image) => ({ image })) } }],
})

test('pictures: the request, the answer in OpenAI’s form, and the size by which it is priced', async (t) => {
  const usage = { output_image_count: 2, output_image_type: 'qima_output_2k' }
  const body = { output: choicesOf(URL, URL), usage }
  const drawn = await draw(t, { n: 2, size: '1024x1024', seed: 3 }, { body })
  assert.deepEqual(drawn.sent, {
    model: 'qwen-image-3.0',
    input: { messages: [{ role: 'user', content: [{ text: 'a river' }] }] },
    parameters: { seed: 3, n: 2, size: '1024*1024' },
  })
  assert.deepEqual(drawn.out.data, [{ url: URL }, { url: URL }])
  assert.deepEqual([drawn.report.usage, drawn.report.facts], [{ image: 2 }, { size: '2K' }])
})

test('pictures: without a statement, those delivered and the size asked for', async (t) => {
  const body = { output: choicesOf(URL, 'javascript:x') }
  const { report } = await draw(t, { size: '2048x2048' }, { body })
  assert.deepEqual([report.usage, report.facts], [{ image: 1 }, { size: '2K' }])
})

test('pictures: without a type, the sides that the answer states', async (t) => {
  for (const [usage, size] of [
    [{ width: 1024, height: 1024 }, '1K'],
    [{ output_width: '2048', output_height: '2048', width: 1024, height: 1024 }, '2K'],
    [{ output_width: 2048 }, '1K'],
    [{ output_width: 0, output_height: 0, size: '2048*2048' }, '2K'],
  ] as const) {
    const body = { output: choicesOf(URL), usage }
    const { report } = await draw(t, { size: '1024x1024' }, { body })
    assert.deepEqual(report.facts, { size }, JSON.stringify(usage))
  }
})

for (const [usage, image] of [
  [{ image_count: 0 }, 2],
  [{ output_image_count: 0, image_count: 0 }, 2],
  [{ output_image_count: 0, image_count: 1 }, 1],
  [{ image_count: '3' }, 2],
] as const) {
  test(`pictures: delivered with ${JSON.stringify(usage)}, ${image} are billed`, async (t) => {
    const { report } = await draw(t, {}, { body: { output: choicesOf(URL, URL), usage } })
    assert.deepEqual(report.usage, { image })
  })
}

for (const body of [
  {},
  { data: null },
  { data: [7] },
  { data: [{ task_id: 'a' }] },
  { data: [{ gmt_create: 2_000 }] },
  { data: [{ task_id: 'a', gmt_create: 1e20 }] },
]) {
  test(`the list ${JSON.stringify(body)} is no absence`, async (t) => {
    const path = '/api/v1/tasks/?model_name=wan3.0-video&page_no=1&page_size=100'
    const { url } = await startRecorded(t, () => ({ [path]: { body: { total_page: 1, ...body } } }))
    const settings = { base_url: url, api_key: 'k' }
    const query = { settings, upstreamModel: 'wan3.0-video', since: new Date(1_000) }
    await assert.rejects(Promise.resolve(driver.list?.(wire, query)), { kind: 'failed' })
  })
}

for (const [status, body, expected] of [
  [500, { code: 'InternalError', message: 'm' }, 'unknown'],
  [503, { code: 'InternalError.Algo', message: 'm' }, 'unknown'],
  [500, { code: 'SystemError', message: 'm' }, 'unknown'],
  [200, { code: 'SystemError', message: 'm' }, 'unknown'],
  [500, 'a page', 'unknown'],
  [504, { code: 'Odd', message: 'm' }, 'unknown'],
  [503, { code: 'ServiceUnavailable', message: 'm' }, 'busy'],
  [200, { code: 'Odd', message: 'm' }, 'failed'],
  [200, { code: 'Success', output: { task_id: 't-1' } }, undefined],
] as const) {
  test(`a creation: ${status} ${JSON.stringify(body)} is ${expected ?? 'a task'}`, async (t) => {
    const { url } = await startRecorded(t, () => ({ [CREATE]: { status, body } }))
    const submission = driver.submit(wire, orderOf('wan3.0-video', {}, url), { id: 'a' })
    if (!expected) assert.deepEqual(await submission, { upstreamId: 't-1' })
    else
      await assert.rejects(submission, ({ kind, details }: UpstreamFailure) => {
        // One that states itself would be taken for a refusal.
        return kind === expected && details.isStated === (kind !== 'unknown')
      })
  })
}

for (const [usage, second, resolution] of [
  [{ duration: 7.2, SR: '720' }, 8, '720p'],
  [{ duration: 5, SR: '1080P' }, 5, '1080p'],
  [{ duration: 5, SR: true }, 5, undefined],
  [{ duration: 5, SR: 1e21 }, 5, undefined],
  [{ duration: [5], SR: [1080] }, undefined, undefined],
  [{ duration: -5, SR: -720 }, undefined, undefined],
] as const) {
  test(`the usage ${JSON.stringify(usage)} bills ${second} seconds`, async (t) => {
    const output = { task_status: 'SUCCEEDED', video_url: 'https://m.example/v.mp4' }
    const polled = await poll(t, { output, usage })
    assert.ok(polled.state === 'succeeded')
    assert.deepEqual([polled.usage?.second, polled.facts?.resolution], [second, resolution])
  })
}

test('pictures: an error under 200 is what it says, anything else is unknown', async (t) => {
  const told = await draw(t, {}, { body: { code: 'Throttling.RateQuota', message: 'slow' } })
  assert.equal(told.refusal?.kind, 'busy')
  const odd = await draw(t, {}, { body: { output: {} } })
  assert.equal(odd.refusal?.kind, 'unknown')
})

for (const [value, param] of [
  [{ n: 7 }, 'n'],
  [{ image: 'https://m.example/a.png' }, 'image'],
  [{ response_format: 'b64_json' }, 'response_format'],
  [{ quality: 'high' }, 'quality'],
  [{ stream: true }, 'stream'],
] as const) {
  test(`pictures: ${JSON.stringify(value)} is refused by its name`, () => {
    assert.throws(() => judgeDashscopeImage(value, 'qwen-image-3.0'), { param })
  })
}
