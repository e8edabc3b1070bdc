/**
 * Role × route, generated from the contract and tried over real sockets: who gets in, whose rows
 * anybody sees, and that no answer holds a secret.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ADMIN_CONTRACT } from '../../server/admin/contract/index.ts'
import type { Contract, RouteDeclaration } from '../../server/admin/contract/route.ts'
import { createSecretBox } from '../../server/lib/secrets.ts'
import { viewSecret } from '../../server/webhooks/secrets.ts'
import type { Tenant } from '../support/in-process.ts'
import { type AdminStage, startAdmin } from './support.ts'

const contract: Contract = ADMIN_CONTRACT
const ROUTES = Object.entries(contract).map(([key, declared]) => ({ key, ...declared }))
const OF_ACCOUNTS = ROUTES.filter(({ role }) => role === 'member' || role === 'owner')
const BODY = { model: 'sim-chat', messages: [{ role: 'user', content: 'Hello' }] }
const VIDEO = {
  model: 'doubao-seedance-2-5-260628',
  content: [{ type: 'text', text: 'a lighthouse' }],
}

type Route = RouteDeclaration & { readonly key: string }

interface Probe {
  readonly status: number
  readonly text: string
}

/** Names that a path may have, and what they are of the account that owns everything. */
type Ids = Readonly<Record<string, string>>

let stage: AdminStage
let home: Tenant
let other: Tenant
let ids: Ids

before(async () => {
  stage = await startAdmin()
  home = await stage.house('home')
  other = await stage.house('other')
  stage.enter('operator', {
    user: {
      ...{ id: 'usr_op', email: 'op@example.com', name: 'op', language: 'en' },
      operator: true,
    },
  })
  ids = await fill(home)
})
after(() => stage.stop())

/** One of everything that can be named. */
async function fill({ accountId, key, keyId }: Tenant): Promise<Ids> {
  const call = await stage.post('/v1/chat/completions', key, BODY)
  const task = await stage.post('/v1/videos/generations', key, VIDEO)
  const form = new FormData()
  form.set('file', new Blob(['hello']), 'note.txt')
  const file = await stage.fetch('/v1/files', { method: 'POST', body: form, key })
  await stage.sql`
    insert into delivery (id, account_id, kind, url, host, body, due_at)
    values ('whd_home', ${accountId}, 'test', 'https://example.com/', 'example.com:443', '{}',
      now() + interval '1 hour')`
  await stage.sql`
    insert into asset (id, account_id, kind, task_id, request_id, model, source_url,
      source_expires_at, token, state, due_at)
    select 'asset_home' || kind, ${accountId}, kind, 'task_home', 'req_home', 'm',
      'https://media.example/home', now(), 'token' || kind, 'failed', null
    from unnest(array['image', 'video']) kind`
  return {
    key_id: keyId,
    request_id: call.headers.get('x-request-id') ?? '',
    task_id: task.json.id,
    file_id: ((await file.json()) as { id: string }).id,
    delivery_id: 'whd_home',
    asset_id: 'asset_homevideo',
  }
}

async function probe({ key, answerType }: Route, as: string, params: Ids): Promise<Probe> {
  const [method = 'GET', pattern = ''] = key.split(' ')
  const path = pattern.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? 'none'))
  const leaving = new AbortController()
  const response = await stage.fetch(`/admin/v1${path}`, {
    method,
    headers: {
      cookie: `session=${as}`,
      'x-tributary-console': '1',
      'content-type': 'application/json',
    },
    signal: leaving.signal,
    ...(method === 'GET' ? {} : { body: '{}' }),
  })
  const isEndless = answerType === 'text/event-stream' && response.status === 200
  const text = isEndless ? '' : await response.text()
  if (isEndless) leaving.abort()
  return { status: response.status, text }
}

const at = ({ accountId }: Tenant, more: Ids = {}) => ({ account_id: accountId, ...more })

describe('who gets in', () => {
  test('nobody without a session, anywhere but on public routes', async () => {
    for (const route of ROUTES.filter(({ role }) => role !== 'public')) {
      const { status } = await probe(route, 'nobody', at(home, ids))
      assert.equal(status, 401, route.key)
    }
  })

  test('a stranger finds no account', async () => {
    for (const route of OF_ACCOUNTS) {
      const foreign = await probe(route, 'other-owner', at(home, ids))
      const none = await probe(route, 'other-owner', { ...ids, account_id: 'acct_none' })
      assert.deepEqual(foreign, none, route.key)
      assert.equal(foreign.status, 404, route.key)
    }
  })

  test('a member may what is for members, and nothing that is for owners', async () => {
    for (const route of OF_ACCOUNTS) {
      const { status, text } = await probe(route, 'home-member', at(home))
      const isRefused = status === 401 || status === 403
      assert.equal(isRefused, route.role === 'owner', `${route.key}: ${status} ${text}`)
      assert.ok(status < 500, `${route.key}: ${status} ${text}`)
    }
  })

  test('an owner is asked to prove it is them where that is asked', async () => {
    for (const route of OF_ACCOUNTS.filter(({ stepUp }) => stepUp)) {
      const { status, text } = await probe(route, 'home-owner', at(home))
      assert.equal(status, 403)
      assert.match(text, /step_up_required/, route.key)
    }
  })

  test('only operators see what is for operators', async () => {
    for (const route of ROUTES.filter(({ role }) => role === 'operator')) {
      for (const as of ['home-owner', 'home-member', 'other-owner']) {
        assert.equal((await probe(route, as, at(home, ids))).status, 403, `${route.key} ${as}`)
      }
      const isRead = route.key.startsWith('GET ') && !route.stepUp
      if (!isRead) continue
      const { status, text } = await probe(route, 'operator', at(home, ids))
      assert.ok(status !== 401 && status !== 403 && status < 500, `${route.key}: ${status} ${text}`)
    }
  })
})

describe('whose rows', () => {
  test('ids of another account, within one’s own, read like ids of nothing', async () => {
    for (const route of OF_ACCOUNTS.filter(({ key }) => key.split(':').length > 2)) {
      if (route.stepUp || route.key.includes(':model_id')) continue
      const foreign = await probe(route, 'other-owner', at(other, ids))
      const none = await probe(route, 'other-owner', at(other))
      assert.deepEqual(foreign, none, route.key)
    }
  })

  test('no list shows anything of another account', async () => {
    const marks = [home.accountId, ...Object.values(ids)]
    for (const route of OF_ACCOUNTS.filter(({ key }) => key.startsWith('GET '))) {
      const { text } = await probe(route, 'other-owner', at(other))
      for (const mark of marks) assert.ok(!text.includes(mark), `${route.key} shows ${mark}`)
    }
  })

  test('the owner sees them', async () => {
    const seen: string[] = []
    for (const route of OF_ACCOUNTS.filter(({ key }) => key.startsWith('GET '))) {
      seen.push((await probe(route, 'home-owner', at(home, ids))).text)
    }
    for (const id of Object.values(ids))
      assert.ok(
        seen.some((text) => text.includes(id)),
        id,
      )
  })

  test('no answer holds a key, a secret or what they are stored as', async () => {
    const box = createSecretBox(['a-secret-key-that-only-tests-would-ever-use'])
    const { current } = await viewSecret(stage.sql, box, home.accountId)
    const [row] = await stage.sql<{ hash: string }[]>`
      select encode(hash, 'hex') as hash from api_key where id = ${home.keyId}`
    const canaries = [home.key, current, row?.hash ?? '', 'sim-openai-key', 'sim-ark-key']
    for (const route of ROUTES.filter(({ key }) => key.startsWith('GET '))) {
      for (const as of ['home-owner', 'operator']) {
        const { text } = await probe(route, as, at(home, ids))
        for (const canary of canaries) {
          assert.ok(canary === '' || !text.includes(canary), `${route.key} shows ${canary}`)
        }
      }
    }
  })
})
