/**
 * A vendor that fails at the creation of a task, in every form: its own error is a refusal, so the
 * next route is tried; what may have been taken is looked up before the creation is answered.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startTestGateway, type Tenant, type TestGateway } from '../../support/in-process.ts'
import {
  type Answer,
  PROXY,
  type Script,
  type ScriptedVendors,
  startScriptedVendors,
} from '../scripted-vendors.ts'
import { QUICK, VIDEO_PATH } from '../stage.ts'

const MINUTES_PATH = '/v1/audio/minutes'

interface Vendor {
  readonly upstream: string
  /** The base address below a place. */
  readonly base: string
  readonly upstreamModel: string
  readonly type: 'video' | 'minutes'
  /** The vendor's own error with an HTTP status. */
  readonly error: (code: string) => object
  /** Its error under HTTP 200. */
  readonly inside: Omit<Answer, 'status'>
  /** Whether a submission without an answer can be looked up. */
  readonly isFindable: boolean
  /** The success with an id; absent where the id is the gateway's own. */
  readonly success?: object
}

const ark = (code: string) => ({ error: { code, message: 'm', param: '', type: 'Error' } })
const minimax = (type: string) => ({ type: 'error', error: { type, message: 'm' } })
const speech = (code: string) => ({ header: { reqid: 'r', code: Number(code) || 1, message: 'm' } })
const base = (status_code: number) => ({ base_resp: { status_code, status_msg: 'm' } })
const outcome = (code: string) => ({ body: '{}', headers: { 'x-api-status-code': code } })

const VENDORS: Readonly<Record<string, Vendor>> = {
  ark: {
    upstream: 'ark',
    base: '/ark',
    upstreamModel: 'doubao-seedance-2-0-260128',
    type: 'video',
    error: ark,
    inside: { body: JSON.stringify(ark('InternalServiceError')) },
    isFindable: true,
    success: { id: '<id>' },
  },
  'minimax-2': {
    upstream: 'minimax',
    base: '',
    upstreamModel: 'MiniMax-H3',
    type: 'video',
    error: minimax,
    inside: { body: JSON.stringify(base(1000)) },
    isFindable: false,
    success: { task_id: '<id>' },
  },
  'minimax-1': {
    upstream: 'minimax',
    base: '',
    upstreamModel: 'MiniMax-Hailuo-02',
    type: 'video',
    error: minimax,
    inside: { body: JSON.stringify(base(1033)) },
    isFindable: false,
    success: { task_id: '<id>' },
  },
  minutes: {
    upstream: 'doubao-minutes',
    base: '',
    upstreamModel: 'volc.lark.minutes',
    type: 'minutes',
    error: speech,
    inside: outcome('55000000'),
    isFindable: false,
    success: { Data: { TaskID: '<id>' } },
  },
  recognition: {
    upstream: 'doubao-recognition',
    base: '',
    upstreamModel: 'volc.seedasr.auc',
    type: 'minutes',
    error: speech,
    inside: outcome('55000000'),
    isFindable: true,
  },
}

/** What relays write in place of a vendor's own error. */
const UNDOCUMENTED = [
  { error: 'the model is overloaded' },
  { error: { type: 'server_error' } },
  { success: false, status: 'succeeded', message: 'm' },
  { STATUS: 'Failed' },
]

/** Every form of the same failure, as cases of each vendor. */
function refusalsOf({ error, inside }: Vendor): readonly Script[] {
  const body = JSON.stringify(error('InternalServiceError'))
  const pages = ['<html>Blocked</html>', '', '{"error"', '[]']
  return [
    ...[500, 501, 502, 503, 504, 520, 599].map((status) => ({ answer: { status, body } })),
    { answer: { status: 502, body, type: 'application/json; charset=utf-8' } },
    { answer: { status: 504, body, type: 'text/plain' } },
    { answer: { status: 200, ...inside, type: 'text/plain; charset=utf-8' } },
    { answer: { status: 500, body: '' } },
    ...UNDOCUMENTED.map((one) => ({ answer: { status: 200, body: JSON.stringify(one) } })),
    { answer: { status: 200, ...inside } },
    { answer: { status: 302, headers: { location: '/elsewhere' } } },
    // A page is no verdict about the request.
    ...[400, 401, 404, 422, 500, 503].map((status, index) => {
      return { answer: { status, body: pages[index % pages.length] ?? '', type: 'text/html' } }
    }),
  ]
}

/**
 * Vendors that never answer, which takes the whole time-out: one whose submissions can be looked
 * up, and another. No vendor has a form for it.
 */
const SILENT: ReadonlySet<string> = new Set(['ark', 'minutes'])

/** Every way to lose an answer. */
function lossesOf(vendor: string, { error }: Vendor): readonly Script[] {
  return [
    { answer: PROXY },
    { answer: { ...PROXY, status: 504 } },
    { answer: { status: 504, body: '' } },
    { answer: { status: 502, body: JSON.stringify(error('Internal')).slice(0, 20) } },
    { answer: { status: 200, body: '' } },
    { answer: { status: 200, body: '{"error":null,"status":"queued"}' } },
    // Under such a status, this is the form of proxies as well.
    { answer: { status: 502, body: '{"error":"upstream time-out"}' } },
    { answer: { status: 200, body: '<html>Sign in</html>', type: 'text/html' } },
    ...(SILENT.has(vendor) ? [{ answer: 'hang' } as const] : []),
    {},
  ]
}

const GROUPS = ['refused', 'absent', 'found', 'dark', 'unnamed', 'named'] as const
type Group = (typeof GROUPS)[number]

/** Every form of an id beside an error, and under a server error. */
function namesOf({ error, inside, success }: Vendor): readonly Script[] {
  if (!success) return []
  const both = { ...success, ...error('InternalServiceError') }
  const { body, headers } = inside
  return [
    {
      answer: {
        status: 200,
        headers,
        body: JSON.stringify({ ...JSON.parse(body ?? ''), ...success }),
      },
    },
    {
      answer: {
        status: 200,
        headers,
        body: JSON.stringify({ ...both, ...JSON.parse(body ?? '') }),
      },
    },
    ...[500, 502, 503].map((status) => ({ answer: { status, body: JSON.stringify(both) } })),
    { answer: { status: 502, body: JSON.stringify(success) } },
  ]
}

interface Case {
  readonly id: string
  readonly vendor: string
  readonly group: Group
  readonly script: Script
}

/** One channel and two models each, so that no case cools down the channel of another. */
const CASES: readonly Case[] = Object.entries(VENDORS).flatMap(([vendor, facts]) => {
  const losses = lossesOf(vendor, facts)
  const scripts: Readonly<Record<Group, readonly Script[]>> = {
    refused: refusalsOf(facts),
    absent: losses,
    found: losses.map((loss) => ({ ...loss, takes: true })),
    dark: losses.map((loss) => ({ ...loss, takes: true, isDark: true })),
    unnamed: namesOf(facts),
    named: namesOf(facts).map((one) => ({ ...one, takes: true })),
  }
  return GROUPS.flatMap((group) =>
    scripts[group].map((script, index) => ({
      id: `${vendor}-${group}-${index}`,
      vendor,
      group,
      script,
    })),
  )
})

describe('a creation that the vendor fails', () => {
  let gateway: TestGateway
  let vendors: ScriptedVendors
  before(async () => {
    vendors = await startScriptedVendors()
    gateway = await startTestGateway({
      ...QUICK,
      // What a worker does later is not asked here, and hundreds of tasks stay open.
      ROLE: 'api',
      TASK_SUBMIT_TIMEOUT_MS: '10000',
      TASK_UNKNOWN_MS: '3600000',
      ALLOW_PRIVATE_TARGETS: 'true',
    })
    const channel = (vendor: string, id: string) => {
      const { upstream = '', base: path = '' } = VENDORS[vendor] ?? {}
      return {
        id,
        upstream,
        settings: { base_url: `${vendors.url}/${id}${path}`, api_key: 'a-key' },
      }
    }
    const names = Object.keys(VENDORS)
    for (const name of names)
      vendors.scripts.set(`${name}-healthy`, { takes: true, answer: 'accept' })
    for (const { id, script } of CASES) vendors.scripts.set(id, script)
    await gateway.apply({
      channels: [
        ...names.map((name) => channel(name, `${name}-healthy`)),
        ...CASES.map(({ id, vendor }) => channel(vendor, id)),
      ],
      models: CASES.flatMap(({ id, vendor }) => {
        const { type, upstreamModel: upstream_model } = VENDORS[vendor] ?? {}
        const prices = [{ unit: 'second', amount: '0.0001' }]
        const first = { channel: id, upstream_model, priority: 0 }
        const second = { channel: `${vendor}-healthy`, upstream_model, priority: 1 }
        return [
          { id: `${id}-alone`, type, prices, routes: [first] },
          { id: `${id}-both`, type, prices, routes: [first, second] },
        ]
      }),
    })
  })
  after(async () => {
    await gateway.stop()
    await vendors.stop()
  })

  function create({ key }: Tenant, vendor: string, model: string) {
    const isVideo = VENDORS[vendor]?.type === 'video'
    const body = isVideo
      ? { content: [{ type: 'text', text: 'a river' }], ratio: 'adaptive', duration: 6 }
      : { file_url: 'https://media.example/a.mp3', features: { summary: true } }
    return gateway.post(isVideo ? VIDEO_PATH : MINUTES_PATH, key, { model, ...body })
  }

  const attemptsAt = (id: string) => vendors.creations.filter((place) => place === id).length

  /** Judges the cases of a group, some at a time, each with an account of its own. */
  async function forAll(
    vendor: string,
    group: Group,
    judge: (one: Case, tenant: Tenant) => Promise<void>,
  ): Promise<void> {
    const left = CASES.filter((one) => one.vendor === vendor && one.group === group)
    const judgeSome = async (): Promise<void> => {
      const tenant = await gateway.tenant()
      for (let one = left.pop(); one; one = left.pop()) await judge(one, tenant)
    }
    await Promise.all([judgeSome(), judgeSome(), judgeSome()])
  }

  /** 502 alone, the second route where there is one; nothing stays held of what was refused. */
  async function assertRefused(vendor: string, group: Group): Promise<void> {
    await forAll(vendor, group, async ({ id, script }, tenant) => {
      const before = await gateway.balance(tenant.accountId)
      const alone = await create(tenant, vendor, `${id}-alone`)
      assert.equal(alone.status, 502, `${id} ${JSON.stringify(script)}: ${alone.text}`)
      assert.deepEqual(await gateway.balance(tenant.accountId), before)
      const both = await create(tenant, vendor, `${id}-both`)
      assert.equal(both.status, 200, `${id} ${JSON.stringify(script)}: ${both.text}`)
      assert.notEqual(both.json.upstream_id, null, id)
      assert.ok((await gateway.balance(tenant.accountId)).held > before.held)
    })
  }

  for (const [name, { isFindable, type, success }] of Object.entries(VENDORS)) {
    test(`${name}: its own error of any status, or a page, is a refusal: the next route`, () =>
      assertRefused(name, 'refused'))

    if (success) {
      test(`${name}: an error beside an id that is of no task is a refusal: the next route`, () =>
        assertRefused(name, 'unnamed'))

      test(`${name}: an error beside the id of a task is none: sent once`, async () => {
        await forAll(name, 'named', async ({ id, script }, tenant) => {
          const answer = await create(tenant, name, `${id}-both`)
          assert.equal(answer.status, 200, `${id} ${JSON.stringify(script)}: ${answer.text}`)
          const [task] = vendors.taken.filter(({ place }) => place === id)
          if (type === 'video') assert.equal(answer.json.upstream_id, task?.id, id)
          assert.equal(attemptsAt(id), 1, id)
          assert.ok((await gateway.balance(tenant.accountId)).held > 0n)
        })
      })
    }

    if (isFindable) {
      test(`${name}: a lost answer is looked up: absent, the next route`, () =>
        assertRefused(name, 'absent'))

      test(`${name}: a lost answer is looked up: found, its task; sent once`, async () => {
        await forAll(name, 'found', async ({ id, script }, tenant) => {
          const answer = await create(tenant, name, `${id}-both`)
          assert.equal(answer.status, 200, `${id} ${JSON.stringify(script)}: ${answer.text}`)
          const [task] = vendors.taken.filter(({ place }) => place === id)
          if (type === 'video') assert.equal(answer.json.upstream_id, task?.id, id)
          assert.equal(attemptsAt(id), 1, id)
          const { json } = await gateway.get(`/v1/tasks/${answer.json.id}/timeline`, tenant.key)
          assert.equal(json.events[1].event, 'adopted', `${id}: ${JSON.stringify(json)}`)
        })
      })
    }

    test(`${name}: what stays unknown is known by our id, held, and sent once`, async () => {
      await forAll(name, isFindable ? 'dark' : 'found', async ({ id, script }, tenant) => {
        const answer = await create(tenant, name, `${id}-both`)
        assert.equal(answer.status, 200, `${id} ${JSON.stringify(script)}: ${answer.text}`)
        assert.match(answer.json.id, /^task_/)
        assert.ok((answer.json.upstream_id ?? null) === null, id)
        assert.equal(attemptsAt(id), 1, id)
        assert.ok((await gateway.balance(tenant.accountId)).held > 0n)
      })
    })
  }
})
