/** Vendors as data: templates, presets, and what a caller's bytes can do to either. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { UpstreamFailure } from '../../server/wire/upstreams/failure.ts'
import { mediaTasks } from '../../server/wire/upstreams/media-tasks/index.ts'
import { findUrl } from '../../server/wire/upstreams/media-tasks/read-answer.ts'
import { renderBody, renderUrl } from '../../server/wire/upstreams/media-tasks/render.ts'
import {
  type MediaSettings,
  mediaSettings,
} from '../../server/wire/upstreams/media-tasks/settings.ts'
import { mediaVideo as driver } from '../../server/wire/upstreams/media-tasks/video.ts'
import { withChannel } from '../../server/wire/upstreams/task-driver.ts'
import { anyText } from '../support/any-text.ts'
import { type Recorded, startRecorded, wire } from './recording-vendor.ts'

const ATTEMPT = { id: 'att_1', vendorCallbackUrl: 'https://gateway.example/hook?a=1' }
const DEFAULTS = { resolution: '720p', ratio: 'adaptive', duration: 5, seed: -1 }
const FILM = 'https://m.example/v.mp4'
const text = { type: 'text', text: 'a river' }
const frame = (role: string) => ({
  type: 'image_url',
  image_url: { url: `https://m.example/${role}` },
  role,
})

const OWN = {
  submit: {
    path: '/v2/films',
    body: {
      model: '{{upstream_model}}',
      text: '{{prompt}}',
      tag: '{{attempt}}',
      style: '{{style}}',
    },
  },
  poll: { path: '/v2/films/{{id}}', status: '/film/state', states: { succeeded: ['ready'] } },
  output: '/film/url',
  cancel: { method: 'DELETE', path: '/v2/films/{{id}}' },
  recover: { path: '/v2/films?tag={{attempt}}', id: '/films/0/id' },
  usage: { second: '/film/billed_seconds', vendor_cost: '/film/cost' },
} as const

function settingsOf(url: string, more: object = { template: OWN }): MediaSettings {
  return mediaSettings.parse({ base_url: url, api_key: 'k', ...more })
}

const preset = (name: string) => ({ preset: name })

function orderOf(
  settings: MediaSettings,
  fields: Readonly<Record<string, unknown>> = {},
  details = {},
  upstreamModel = 'owner/films',
) {
  return {
    settings,
    upstreamModel,
    parameters: { ...DEFAULTS, content: [text], ...fields },
    sentFields: new Set(Object.keys(fields)),
    details,
  }
}

async function submitted(
  t: TestContext,
  path: string,
  more: object | undefined,
  fields = {},
  details = {},
) {
  const { url, seen } = await startRecorded(t, () => ({
    [path]: { body: { id: '7', request_id: '7' } },
  }))
  const order = orderOf(settingsOf(url, more), fields, details)
  const { upstreamId } = await driver.submit(wire, order, ATTEMPT)
  assert.equal(upstreamId, '7')
  return { body: JSON.parse(seen[0]?.body ?? ''), headers: seen[0]?.headers }
}

test('a template of an operator’s: fields by their names, absent ones left out', async (t) => {
  const plain = await submitted(t, '/v2/films', undefined)
  assert.deepEqual(plain.body, { model: 'owner/films', text: 'a river', tag: 'att_1' })
  assert.equal(plain.headers?.authorization, 'Bearer k')
  const styled = await submitted(t, '/v2/films', undefined, { style: ['ink', 'wash'] })
  assert.deepEqual(styled.body.style, ['ink', 'wash'])
})

test('the presets', async (t) => {
  const hook = encodeURIComponent(ATTEMPT.vendorCallbackUrl)
  const { url, seen } = await startRecorded(t, () => ({
    [`/owner/films/fast?fal_webhook=${hook}`]: { body: { request_id: '7' } },
    '/v1/models/owner/films/predictions': { body: { id: '7' } },
    '/api/v1/videos': { body: { id: '7' } },
  }))
  const fields = { duration: 8, ratio: '9:16', content: [text, frame('first_frame')] }
  for (const [name, model] of [
    ['fal', 'owner/films/fast'],
    ['replicate', 'owner/films'],
    ['openrouter', 'owner/films'],
  ] as const) {
    await driver.submit(wire, orderOf(settingsOf(url, preset(name)), fields, {}, model), ATTEMPT)
  }
  const [fal, replicate, openrouter] = seen.map(({ body }) => JSON.parse(body))
  const usual = { prompt: 'a river', aspect_ratio: '9:16', resolution: '720p', duration: 8 }
  const image = 'https://m.example/first_frame'
  const common = { ...usual, generate_audio: true }
  assert.deepEqual(fal, { ...common, image_url: image })
  assert.equal(seen[0]?.headers.authorization, 'Key k')
  assert.deepEqual(replicate, { input: { ...common, image }, webhook: ATTEMPT.vendorCallbackUrl })
  assert.deepEqual(openrouter, {
    ...common,
    model: 'owner/films',
    frame_images: [{ type: 'image_url', image_url: { url: image }, frame_type: 'first_frame' }],
    callback_url: ATTEMPT.vendorCallbackUrl,
  })
})

const MODEL = {
  media: {
    body: {
      prompt: '{{prompt}}',
      duration: '{{duration}}s',
      count: '{{duration:text}}',
      mode: '{{mode}}',
    },
  },
  video: { lengths: [8, 4], resolution: '1080p' },
}

test('a model’s own body, its own length, and its facts', async (t) => {
  const path = `/owner/films?fal_webhook=${encodeURIComponent(ATTEMPT.vendorCallbackUrl)}`
  const { body } = await submitted(t, path, preset('fal'), { mode: 'pro' }, MODEL)
  assert.deepEqual(body, { prompt: 'a river', duration: '8s', count: '8', mode: 'pro' })
  const prepared = driver.prepare(orderOf(settingsOf(FILM, preset('fal')), { mode: 'pro' }, MODEL))
  assert.deepEqual(prepared.quantities, { second: 8 })
  const facts = { mode: 'pro', resolution: '1080p', audio: false, video_input: false }
  assert.deepEqual(prepared.facts, facts)
})

for (const [name, fields, param] of [
  ['a field that its body does not name', { seed: 7 }, 'seed'],
  ['a picture that it does not take', { content: [text, frame('first_frame')] }, 'content'],
  ['a resolution that it cannot choose', { resolution: '720p' }, 'resolution'],
  ['another length', { duration: 6 }, 'duration'],
  ['a ratio', { ratio: '9:16' }, 'ratio'],
] as const) {
  test(`refused by its name: ${name}`, () => {
    const order = orderOf(settingsOf(FILM, preset('fal')), fields, MODEL)
    assert.throws(
      () => driver.prepare(order),
      ({ kind, details }: UpstreamFailure) => kind === 'rejected' && details.param === param,
    )
  })
}

test('a path without the value of a field is the request’s fault, not the channel’s', () => {
  const submit = { ...OWN.submit, path: '/v2/{{style}}' }
  const settings = settingsOf(FILM, { template: { ...OWN, submit } })
  assert.ok(driver.prepare(orderOf(settings, { style: 'noir' })))
  for (const fields of [{}, { style: '..' }]) {
    const refusal = { kind: 'rejected', message: /^style: / }
    assert.throws(() => driver.prepare(orderOf(settings, fields)), refusal)
  }
})

const ABOUT = { upstreamModel: 'owner/films/fast', upstreamId: '7' }

async function poll(t: TestContext, more: object | undefined, answers: Record<string, Recorded>) {
  const { url } = await startRecorded(t, () => answers)
  return driver.poll(wire, { settings: settingsOf(url, more), ...ABOUT })
}

test('an end is read by pointers, with what was billed', async (t) => {
  const film = { state: 'ready', url: FILM, billed_seconds: 5.2, cost: 0.1 + 0.2 }
  const done = await poll(t, undefined, { '/v2/films/7': { body: { film } } })
  assert.deepEqual(done, {
    state: 'succeeded',
    result: { video_url: FILM },
    usage: { second: 6, vendor_cost: 300_000_001 },
  })
  const text = { film: { ...film, billed_seconds: '5.2', cost: '0.25' } }
  const told = await poll(t, undefined, { '/v2/films/7': { body: text } })
  assert.deepEqual('usage' in told && told.usage, { second: 6, vendor_cost: 250_000_000 })
  for (const billed_seconds of [0, '0.0', -1, '5s', '0x9', '', null, {}]) {
    const body = { film: { ...film, billed_seconds, cost: undefined } }
    const odd = await poll(t, undefined, { '/v2/films/7': { body } })
    assert.equal('usage' in odd, false, JSON.stringify(billed_seconds))
  }
})

test('a figure that is no seconds is not charged as such', async (t) => {
  const film = { state: 'ready', url: FILM, billed_seconds: 16 }
  const { url } = await startRecorded(t, () => ({ '/v2/films/7': { body: { film } } }))
  const settings = { ...settingsOf(url, undefined), stated_usage: false }
  const done = await driver.poll(wire, { settings, upstreamModel: 'owner/films', upstreamId: '7' })
  assert.deepEqual(done, { state: 'succeeded', result: { video_url: FILM } })
})

test('fal: the answer with the film may be the failure', async (t) => {
  const status = '/owner/films/requests/7/status'
  const at = '/owner/films/requests/7'
  const over = { [status]: { body: { status: 'COMPLETED' } } }
  const detail = [{ loc: ['body'], msg: 'refused by policy', type: 'policy' }]
  assert.deepEqual(
    await poll(t, preset('fal'), { ...over, [at]: { status: 422, body: { detail } } }),
    {
      state: 'failed',
      code: 'task_failed',
      message: 'refused by policy',
    },
  )
  const good = { body: { images: [], video: { url: FILM } } }
  const done = await poll(t, preset('fal'), { ...over, [at]: good })
  assert.deepEqual('result' in done && done.result, { video_url: FILM })
  // About the request, not the task.
  for (const answer of [
    { status: 429, body: { detail: 'slow' } },
    { status: 500 },
    { status: 401 },
  ]) {
    await assert.rejects(poll(t, preset('fal'), { ...over, [at]: answer }), {
      name: 'UpstreamFailure',
    })
  }
  const gone = { status: 404, body: { detail: 'no such request' } }
  assert.deepEqual(await poll(t, preset('fal'), { [status]: gone }), { state: 'gone' })
})

test('a failed task that the vendor bills says so', async (t) => {
  const failed = { id: '7', status: 'failed', error: 'no' }
  const own = { film: { state: 'failed', cost: 0.5 } }
  const router = preset('openrouter')
  for (const [more, path, body, isBilled] of [
    [undefined, '/v2/films/7', own, true],
    [undefined, '/v2/films/7', { film: { ...own.film, cost: 0 } }, undefined],
    [router, '/api/v1/videos/7', { ...failed, usage: { cost: '0.1' } }, true],
    [router, '/api/v1/videos/7', failed, undefined],
  ] as const) {
    const polled = await poll(t, more, { [path]: { body } })
    assert.ok(polled.state === 'failed')
    assert.equal(polled.isBilled, isBilled, JSON.stringify(body))
  }
})

test('a channel has the methods of its template', () => {
  const methods = (more: object) => {
    const { recover, list, cancel, callbacks } = withChannel(
      driver as Parameters<typeof withChannel>[0],
      settingsOf(FILM, more),
    )
    return [recover, list, cancel, callbacks].map((one) => one !== undefined)
  }
  assert.deepEqual(methods({ template: OWN }), [true, false, true, false])
  assert.deepEqual(methods(preset('fal')), [false, false, true, true])
  assert.deepEqual(methods(preset('replicate')), [false, true, true, true])
  assert.deepEqual(methods(preset('openrouter')), [false, false, false, true])
})

test('a lost task is found by the gateway’s id, or in the list of its model', async (t) => {
  const own = driver.methodsOf?.(settingsOf(FILM))
  const { url } = await startRecorded(t, () => ({
    '/v2/films?tag=att_1': { body: { films: [{ id: '7' }] } },
    '/v2/films?tag=att_2': { body: { films: [] } },
  }))
  for (const [id, found] of [
    ['att_1', '7'],
    ['att_2', undefined],
  ] as const) {
    const lost = { settings: settingsOf(url), upstreamModel: 'm', attempt: { id } }
    assert.equal((await own?.recover?.(wire, lost))?.upstreamId, found)
  }
  const item = (id: string, model: string, created_at: string) => ({ id, model, created_at })
  const listed = async (next: unknown) => {
    const results = [
      item('new', 'owner/films', '2026-11-26T02:00:01Z'),
      item('other', 'owner/others', '2026-11-26T02:00:01Z'),
      item('odd', 'owner/films', 'yesterday'),
    ]
    const vendor = await startRecorded(t, () => ({
      '/v1/predictions': { body: { results, next } },
    }))
    const settings = settingsOf(vendor.url, preset('replicate'))
    const query = {
      settings,
      upstreamModel: 'owner/films',
      since: new Date('2026-11-26T02:00:00Z'),
    }
    return driver.methodsOf?.(settings)?.list?.(wire, query)
  }
  assert.deepEqual(
    (await listed(null))?.map(({ upstreamId }) => upstreamId),
    ['new'],
  )
  // A page that is not read may have the task: that is no absence.
  await assert.rejects(Promise.resolve(listed('https://elsewhere.example')), { kind: 'failed' })
})

test('settings: one of both forms, and paths that stay below the address', () => {
  const parse = (more: object) =>
    mediaSettings.safeParse({ base_url: 'https://a.example', api_key: 'k', ...more }).success
  assert.ok(parse({ template: OWN }) && parse(preset('fal')))
  for (const path of ['/v2/films/{{idd}}', '/v2/{{prompt}}/{{id}}', '/v2/films?id={{attempt}}']) {
    assert.ok(!parse({ template: { ...OWN, poll: { path } } }), path)
  }
  assert.ok(!parse({}) && !parse({ template: OWN, ...preset('fal') }))
  for (const path of [
    'v2/films',
    '//b.example/films',
    '/\\b.example',
    'https://b.example/films',
    '/v2/../films',
    '/./films',
    '/films#x',
    '/fi lms',
    '@b.example/films',
  ]) {
    const template = { ...OWN, submit: { ...OWN.submit, path } }
    assert.ok(!parse({ template }), path)
    assert.ok(!parse({ template: { ...OWN, poll: { ...OWN.poll, path } } }), path)
  }
  assert.ok(!mediaTasks.settings.safeParse({ api_key: 'k', template: OWN }).success)
})

/** Words that would change a request, were they read as anything but a value. */
const NASTY = [
  '{{attempt}}',
  '"}, "model": "other", {"a": "',
  '/../../account',
  '..',
  '.',
  '//evil.example/',
  '\\\\evil.example\\',
  '@evil.example',
  'https://evil.example/',
  '?a=b&c=d#e',
  '%2e%2e%2f',
  '\u0000\r\nhost: evil.example',
  '\ud800',
  '__proto__',
  '\u202e{{prompt:text}}',
] as const

const nasty = fc.constantFrom(...NASTY)
const word = fc.oneof(
  nasty,
  fc.tuple(nasty, anyText({ maxLength: 40 }), nasty).map((parts) => parts.join('')),
)

test('property: whatever a caller writes is one value, and no request leaves the address', () => {
  const base = 'https://vendor.example:8443/api'
  const template = {
    prompt: '{{prompt}}',
    inside: 'before {{style}} after',
    list: ['{{style}}', { deep: '{{prompt}}' }],
  }
  const property = fc.property(word, word, (prompt, style) => {
    const values = new Map<string, unknown>([
      ['prompt', prompt],
      ['style', style],
      ['id', style],
      ['upstream_model', 'owner/films'],
    ])
    assert.deepEqual(renderBody(template, values), {
      prompt,
      inside: `before ${style} after`,
      list: [style, { deep: prompt }],
    })
    const render = () => renderUrl(base, '/{{upstream_model}}/of/{{id}}?q={{prompt}}', values)
    if (/^\.{1,2}$/.test(style)) {
      assert.throws(render, { kind: 'channel_fault' })
      return
    }
    const url = new URL(render())
    assert.equal(url.origin, 'https://vendor.example:8443')
    assert.match(url.pathname, /^\/api\/owner\/films\/of\/[^/]+$/)
    assert.deepEqual([...url.searchParams.keys()], ['q'])
    assert.equal(url.searchParams.get('q'), prompt.toWellFormed())
    assert.equal(url.hash, '')
  })
  fc.assert(property, { numRuns: 3_000 })
})

test('rendering is linear in what a caller writes', () => {
  const filled = '{{'.repeat(500_000)
  const values = new Map<string, unknown>([['prompt', filled]])
  assert.equal(renderBody({ a: 'x{{prompt}}y' }, values).a, `x${filled}y`)
  assert.ok(renderUrl('https://a.example', '/f?q={{prompt}}', values).length > filled.length)
})

test('a list of the vendor’s may be longer than a call takes arguments', () => {
  const url = 'https://media.example/film.mp4'
  const list = Array.from({ length: 500_000 }, () => 1)
  assert.equal(findUrl({ output: [url, 1, 2] }, ['/output']), url)
  assert.equal(findUrl({ output: { list, url } }, ['/output']), url)
  assert.equal(findUrl({ output: list }, ['/output']), undefined)
})
