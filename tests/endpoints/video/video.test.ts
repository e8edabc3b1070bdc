/** POST, GET and DELETE /v1/videos/generations, black box: fields, defaults, statuses, ids. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { addBudget } from '../../../server/money/ledger/budgets/budgets.ts'
import {
  BODY,
  CONTENTS_PATH,
  startTaskStage,
  type TaskStage,
  TEXT,
  VIDEO_PATH,
} from '../../tasks/stage.ts'
import { testCommonStatuses } from '../common-statuses.ts'

describe(VIDEO_PATH, () => {
  let stage: TaskStage
  before(async () => {
    stage = await startTaskStage()
  })
  beforeEach(() => {
    stage.vendor.advance = false
  })
  after(() => stage.stop())

  for (const path of [VIDEO_PATH, CONTENTS_PATH]) {
    testCommonStatuses(() => stage.gateway, {
      path,
      body: BODY,
      model: 'test-video',
      envelope: path === VIDEO_PATH ? 'flat' : 'native',
      withWords: (words) => ({ ...BODY, content: [{ type: 'text', text: words }] }),
      withModel: (model) => ({ path, body: { ...BODY, model } }),
    })
  }

  test('400 without a model, with the documented message', async () => {
    const tenant = await stage.gateway.tenant()
    const answer = await stage.create(tenant, { content: TEXT })
    assert.equal(answer.status, 400)
    assert.deepEqual(answer.json, {
      error: 'model field is required',
      type: 'invalid_request_error',
    })
  })

  const image = (role?: string) => ({
    type: 'image_url',
    image_url: { url: 'https://media.example/a.png' },
    ...(role ? { role } : {}),
  })
  const bad: readonly [string, object][] = [
    ['content is missing', { content: undefined }],
    ['content is empty', { content: [] }],
    ['content is no list', { content: 'a river' }],
    ['a type is unknown', { content: [{ type: 'draft', text: 'x' }] }],
    ['a text is missing', { content: [{ type: 'text' }] }],
    ['an image is missing', { content: [{ type: 'image_url' }] }],
    ['an image has no url', { content: [{ type: 'image_url', image_url: {} }] }],
    ['a url is a file', { content: [{ type: 'image_url', image_url: { url: 'file:///etc/x' } }] }],
    ['a role does not fit its type', { content: [image('reference_video')] }],
    ['a role is unknown', { content: [image('hero')] }],
    ['a text has a role', { content: [{ type: 'text', text: 'x', role: 'first_frame' }] }],
    ['two texts', { content: [...TEXT, ...TEXT] }],
    ['two images without roles', { content: [image(), image()] }],
    ['only a last frame', { content: [image('last_frame')] }],
    ['frames beside references', { content: [image('first_frame'), image('reference_image')] }],
    ['ten references', { content: Array.from({ length: 10 }, () => image('reference_image')) }],
    [
      'audio alone',
      { content: [...TEXT, { type: 'audio_url', audio_url: { url: 'https://a.example/a.mp3' } }] },
    ],
    [
      'what the vendor stores',
      { content: [...TEXT, { type: 'image_url', image_url: { url: 'mm_file://1' } }] },
    ],
    ['resolution', { resolution: '8k' }],
    ['resolution of another vendor', { resolution: '768P' }],
    ['ratio', { ratio: '2:1' }],
    ['duration 0', { duration: 0 }],
    ['duration -2', { duration: -2 }],
    ['duration 5.5', { duration: 5.5 }],
    ['duration 3 of a model that begins at 4', { duration: 3 }],
    ['duration 16 of a model that ends at 15', { duration: 16 }],
    ['duration as text', { duration: '5' }],
    ['seed -2', { seed: -2 }],
    ['seed 2^32', { seed: 2 ** 32 }],
    ['generate_audio', { generate_audio: 'yes' }],
    ['return_last_frame', { return_last_frame: 1 }],
    ['camera_fixed', { camera_fixed: 'no' }],
    ['watermark', { watermark: 'no' }],
    ['service_tier', { service_tier: 'fast' }],
    ['flex where there is none', { service_tier: 'flex' }],
    ['frames where only seconds count', { frames: 29 }],
    ['a draft where there is none', { draft: true }],
    ['callback_url without a scheme', { callback_url: 'example.com/hook' }],
    ['callback_url of another scheme', { callback_url: 'ftp://example.com/hook' }],
    ['callback_url with a password', { callback_url: 'https://u:p@example.com/hook' }],
    ['callback_url with an empty label', { callback_url: 'http://a..b/' }],
    ['callback_url with half an address', { callback_url: 'http://1.2.3/' }],
    ['callback_url too long', { callback_url: `https://example.com/${'x'.repeat(2048)}` }],
    ['safety_identifier too long', { safety_identifier: 'x'.repeat(65) }],
  ]
  for (const [what, change] of bad) {
    test(`400 before any charge: ${what}`, async () => {
      const tenant = await stage.gateway.tenant()
      const sent = stage.vendor.requests.length
      const answer = await stage.create(tenant, { ...BODY, ...change })
      assert.equal(answer.status, 400, answer.text)
      assert.equal(answer.json.type, 'invalid_request_error')
      const field = Object.keys(change)[0] ?? ''
      assert.match(answer.json.error, new RegExp(field))
      if (field === 'resolution') assert.match(answer.json.error, /this model offers 480p, 720p/)
      assert.equal((await stage.gateway.balance(tenant.accountId)).held, 0n)
      assert.deepEqual((await stage.gateway.get('/v1/usage', tenant.key)).json.data, [])
      assert.deepEqual(
        stage.vendor.requests.slice(sent).filter((one) => one.startsWith('POST')),
        [],
      )
    })
  }

  test('a request with a picture may be larger than other JSON', async () => {
    const tenant = await stage.gateway.tenant()
    const url = `data:image/png;base64,${'A'.repeat(12_000_000)}`
    const content = [...TEXT, { type: 'image_url', image_url: { url } }]
    const answer = await stage.create(tenant, { ...BODY, content })
    assert.equal(answer.status, 200, answer.text)
  })

  const good: readonly [string, string, object, object][] = [
    [
      'defaults of generation 2.0',
      'test-video',
      {},
      { resolution: '720p', duration: 5, generate_audio: true },
    ],
    [
      'a seed that asks for nothing is not sent to a generation that takes none',
      'test-video',
      { seed: -1, camera_fixed: false },
      { resolution: '720p', duration: 5, generate_audio: true },
    ],
    [
      'every field of generation 1.5',
      'test-video-1',
      {
        resolution: '1080p',
        ratio: '9:16',
        duration: 12,
        seed: 2 ** 32 - 1,
        generate_audio: false,
        return_last_frame: true,
        camera_fixed: true,
        watermark: true,
        service_tier: 'flex',
        safety_identifier: 'x'.repeat(64),
      },
      {
        resolution: '1080p',
        ratio: '9:16',
        duration: 12,
        seed: 2 ** 32 - 1,
        generate_audio: false,
        return_last_frame: true,
        camera_fixed: true,
        watermark: true,
        service_tier: 'flex',
        safety_identifier: 'x'.repeat(64),
      },
    ],
    [
      'the model chooses the length',
      'test-video',
      { duration: -1 },
      { resolution: '720p', duration: -1, generate_audio: true },
    ],
  ]
  for (const [what, model, change, expected] of good) {
    test(`the vendor's request: ${what}`, async () => {
      const tenant = await stage.gateway.tenant()
      const callback = { callback_url: 'https://example.com/hook' }
      const answer = await stage.create(tenant, { model, content: TEXT, ...change, ...callback })
      assert.equal(answer.status, 200, answer.text)
      const {
        model: upstreamModel,
        content,
        ...rest
      } = stage.vendor.tasks.get(answer.json.upstream_id)?.body ?? {}
      assert.match(String(upstreamModel), /^doubao-seedance/)
      assert.deepEqual(content, TEXT)
      assert.deepEqual(rest, expected)
    })
  }

  for (const [model, change, param] of [
    ['test-video', { seed: 11 }, 'seed'],
    ['test-video', { camera_fixed: true }, 'camera_fixed'],
    ['test-video', { draft: true }, 'draft'],
    ['test-video-1', { priority: 3 }, 'priority'],
    ['test-video-1', { tools: [{ type: 'web_search' }] }, 'tools'],
    ['test-video', { made_up: 1 }, 'made_up'],
    ['test-video', { priority: 10 }, 'priority'],
  ] as const) {
    test(`400 for what the model does not take: ${JSON.stringify(change)}`, async () => {
      const tenant = await stage.gateway.tenant()
      const answer = await stage.create(tenant, { model, content: TEXT, ...change })
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.json.error, new RegExp(`^${param}: `))
      assert.equal((await stage.gateway.balance(tenant.accountId)).held, 0n)
    })
  }

  test('frames, references and audio in the combinations that a generation accepts', async () => {
    const tenant = await stage.gateway.tenant()
    const video = { type: 'video_url', video_url: { url: 'https://media.example/v.mp4' } }
    const audio = { type: 'audio_url', audio_url: { url: 'https://media.example/a.mp3' } }
    // Of the vendor's library, in which no customer stores anything.
    const portrait = { type: 'image_url', image_url: { url: 'asset://1' }, role: 'reference_image' }
    for (const content of [
      [...TEXT, portrait],
      [image()],
      [...TEXT, image('first_frame'), image('last_frame')],
      [...TEXT, ...Array.from({ length: 9 }, () => image('reference_image'))],
      [...TEXT, image('reference_image'), { ...video, role: 'reference_video' }, audio],
    ]) {
      const answer = await stage.create(tenant, { ...BODY, content })
      assert.equal(answer.status, 200, answer.text)
    }
    const old = { model: 'test-video-seconds', content: [...TEXT, video] }
    assert.equal((await stage.create(tenant, old)).status, 400, '1.0 takes no video')
  })

  test('a draft becomes a video: by either id, at its length, of this account alone', async () => {
    const tenant = await stage.gateway.tenant()
    const model = 'test-video-1'
    stage.vendor.advance = true
    const draft = (await stage.create(tenant, { model, content: TEXT, draft: true })).json
    await stage.until(tenant, draft.id, 'succeeded')
    const plain = (await stage.create(tenant, { model, content: TEXT })).json
    await stage.until(tenant, plain.id, 'succeeded')
    const of = (id: string) => [{ type: 'draft_task', draft_task: { id } }]
    for (const id of [draft.id, draft.upstream_id]) {
      const answer = await stage.create(tenant, { model, content: of(id), resolution: '1080p' })
      assert.equal(answer.status, 200, answer.text)
      const sent = stage.vendor.tasks.get(answer.json.upstream_id)?.body
      assert.deepEqual(sent?.content, of(draft.upstream_id))
      assert.deepEqual(
        [sent?.resolution, sent?.duration, sent?.generate_audio],
        ['1080p', undefined, undefined],
      )
    }
    const refusals: readonly (readonly [object, number, RegExp])[] = [
      [{ model, content: of(plain.id) }, 400, /is not a draft/],
      [{ model: 'test-video', content: of(draft.id) }, 400, /was made by 'test-video-1'/],
      [
        { model, content: [...of(draft.id), ...TEXT] },
        400,
        /cannot be combined with other content/,
      ],
      [{ model, content: of('task_0000000000000000000000') }, 404, /no such task/],
      [{ model, content: [{ type: 'draft_task' }] }, 400, /draft_task: required/],
    ]
    for (const [body, status, reason] of refusals) {
      const answer = await stage.create(tenant, body)
      assert.equal(answer.status, status, answer.text)
      assert.match(answer.json.error, reason)
    }
    const other = await stage.gateway.tenant()
    const foreign = await stage.create(other, { model, content: of(draft.id) })
    assert.equal(foreign.status, 404)
  })

  test('the hold is the upper bound: of the length, the ratio and the input video', async () => {
    const tenant = await stage.gateway.tenant()
    const heldFor = async (change: object) => {
      const before = (await stage.gateway.balance(tenant.accountId)).held
      assert.equal((await stage.create(tenant, { ...BODY, ...change })).status, 200)
      return (await stage.gateway.balance(tenant.accountId)).held - before
    }
    const named = await heldFor({ ratio: '16:9' })
    assert.equal(named, 5_009_400_000n, '108,900 tokens at 46 a million')
    assert.ok((await heldFor({ ratio: 'adaptive' })) >= named)
    const chosen = await heldFor({ duration: -1, ratio: '16:9' })
    assert.equal(chosen, 361n * 900n * 46_000n, '15 seconds')
    const video = { type: 'video_url', video_url: { url: 'https://media.example/v.mp4' } }
    assert.ok((await heldFor({ content: [video], ratio: '16:9' })) > named * 3n)
  })

  test('prices by tier, by audio and by seconds; a free model has a zero record', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.advance = true
    const charged = async (body: object) => {
      const created = await stage.create(tenant, { content: TEXT, ...body })
      await stage.until(tenant, created.json.id, 'succeeded')
      return (await stage.gateway.record(created, tenant.key)).charged
    }
    const model = 'test-video-1'
    assert.equal(await charged({ model }), '1.7424')
    assert.equal(await charged({ model, generate_audio: false }), '0.8712')
    assert.equal(await charged({ model, service_tier: 'flex' }), '0.8712')
    assert.equal(await charged({ model: 'test-video-seconds' }), '2.5')
    assert.equal(await charged({ model: 'test-video-free' }), '0')
  })

  test('a budget of tokens counts a video sold by tokens, and none sold by the second', async () => {
    const { sql } = stage.gateway
    const tenant = await stage.gateway.tenant()
    const budget = await addBudget(sql, {
      accountId: tenant.accountId,
      setBy: 'operator',
      scope: 'account',
      subject: '',
      unit: 'output_token',
      amount: 10n,
      period: 'day',
    })
    const create = (model: string) => stage.create(tenant, { content: TEXT, model })
    const bySecond = await create('test-video-seconds')
    assert.equal(bySecond.status, 200, bySecond.text)
    const refused = await create('test-video-1')
    assert.deepEqual([refused.status, refused.json.budget_id], [402, budget.id])
  })

  test('both ids are accepted; the same 404 for foreign, unknown and malformed ones', async () => {
    const tenant = await stage.gateway.tenant()
    const other = await stage.gateway.tenant()
    const created = await stage.create(tenant)
    const { id, upstream_id: upstreamId } = created.json
    const mine = await stage.gateway.get(`${VIDEO_PATH}/${id}`, tenant.key)
    const same = await stage.gateway.get(`${VIDEO_PATH}/${upstreamId}`, tenant.key)
    assert.equal(same.text, mine.text)
    const bodies = new Set<string>()
    for (const eitherId of [id, upstreamId, 'task_0000000000000000000000', 'x', '%00', "'--"]) {
      const answer = await stage.gateway.get(`${VIDEO_PATH}/${eitherId}`, other.key)
      assert.equal(answer.status, 404, eitherId)
      bodies.add(answer.text)
    }
    assert.equal(bodies.size, 1)
  })

  test('the list is newest first, pages by cursor and shows only our own', async () => {
    const tenant = await stage.gateway.tenant()
    await stage.create(await stage.gateway.tenant())
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1) {
      ids.unshift((await stage.create(tenant)).json.id)
    }
    const first = await stage.gateway.get(`${VIDEO_PATH}?limit=2`, tenant.key)
    assert.deepEqual(
      first.json.data.map((one: { id: string }) => one.id),
      ids.slice(0, 2),
    )
    const cursor = first.json.next_cursor
    const second = await stage.gateway.get(`${VIDEO_PATH}?limit=2&cursor=${cursor}`, tenant.key)
    assert.deepEqual(
      second.json.data.map((one: { id: string }) => one.id),
      ids.slice(2),
    )
    assert.equal(second.json.next_cursor, null)
    const wrong = await stage.gateway.get(`${VIDEO_PATH}?cursor=2`, tenant.key)
    assert.equal(wrong.status, 400)
    assert.match(wrong.text, /cursor: not a cursor of this list/)
    const other = await stage.gateway.tenant()
    await stage.create(other)
    const foreign = await stage.gateway.get(`${VIDEO_PATH}?cursor=${cursor}`, other.key)
    assert.deepEqual(foreign.json.data, [], 'a page of somebody else leads nowhere')
    assert.equal((await stage.gateway.get(`${VIDEO_PATH}?limit=0`, tenant.key)).status, 400)
  })

  test('a webhook is written with the end of the task, in the documented form', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.advance = true
    const callback = { callback_url: 'http://127.0.0.1:9/hook' }
    const created = await stage.create(tenant, { ...BODY, ...callback })
    // A port that is not allowed is refused; the guard has its own tests.
    if (created.status === 400) {
      assert.match(created.json.error, /callback_url/)
      return
    }
    const done = await stage.until(tenant, created.json.id, 'succeeded')
    const [delivery] = await stage.gateway.sql`
      select kind, body from delivery where task_id = ${created.json.id}`
    const { video_url: link, ...payload } = JSON.parse(delivery?.body.toString('utf8'))
    assert.match(link, /\/media\/\w{40}\/video\.mp4$/, 'a link that lasts')
    assert.deepEqual(payload, {
      task_id: created.json.id,
      status: 'succeeded',
      model: 'test-video',
      created_at: done.created_at,
      finished_at: done.finished_at,
      charged: done.charged,
      currency: 'CNY',
    })
    const { charged } = await stage.gateway.record(created, tenant.key)
    assert.equal(done.charged, charged)
  })
})
