/** Shared by the tests of role × route: every route of the contract, and an object of each kind. */
import { ADMIN_CONTRACT } from '../../server/api/admin/contract.ts'
import {
  type Contract,
  isAccountRole,
  type RouteDeclaration,
} from '../../server/api/admin/route.ts'
import { createPasswords } from '../../server/api/sign-in/password-hashes.ts'
import { createPerson } from '../../server/api/sign-in/people/people.ts'
import { putMembership } from '../../server/api/sign-in/person-store.ts'
import { giveBudget } from '../ledger/budgets/support.ts'
import type { Tenant } from '../support/in-process.ts'
import type { AdminStage } from './support.ts'

const contract: Contract = ADMIN_CONTRACT
export const ROUTES: readonly Route[] = Object.entries(contract).map(([key, declared]) => {
  return { key, ...declared }
})
export const OF_ACCOUNTS = ROUTES.filter(({ role }) => isAccountRole(role))
const BODY = { model: 'sim-chat', messages: [{ role: 'user', content: 'Hello' }] }
const VIDEO = {
  model: 'doubao-seedance-2-5-260628',
  content: [{ type: 'text', text: 'a lighthouse' }],
}

export type Route = RouteDeclaration & { readonly key: string }

export interface Probe {
  readonly status: number
  readonly text: string
}

/** Path parameters, with the ids of the account that owns all objects. */
export type Ids = Readonly<Record<string, string>>

export const at = ({ accountId }: Tenant, more: Ids = {}) => ({ account_id: accountId, ...more })

/** Creates an object of each kind that a path can name. */
export async function fill(stage: AdminStage, home: Tenant): Promise<Ids> {
  const { accountId, key, keyId } = home
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
  const person = { email: 'at-home@example.com', name: 'Kim', password: 'seven hills, one river' }
  const { id: userId } = await createPerson(
    { sql: stage.sql, passwords: createPasswords() },
    person,
  )
  await putMembership(stage.sql, { personId: userId, accountId, role: 'developer' })
  stage.enter('home-fresh', {
    memberships: [{ accountId, accountName: 'home', role: 'owner' }],
    steppedUpUntil: new Date(Date.now() + 3_600_000),
  })
  const params = { account_id: accountId }
  const body = { email: 'guest@example.com', role: 'viewer' }
  const as = 'home-fresh'
  await stage.read('POST /accounts/:account_id/invitations', { as, params, body })
  const invited = await stage.read('GET /accounts/:account_id/invitations', { as, params })
  return {
    user_id: userId,
    invitation_id: invited.data[0]?.id ?? '',
    key_id: keyId,
    request_id: call.headers.get('x-request-id') ?? '',
    task_id: task.json.id,
    file_id: ((await file.json()) as { id: string }).id,
    delivery_id: 'whd_home',
    asset_id: 'asset_homevideo',
    budget_id: (await giveBudget(stage.sql, accountId, 10n ** 15n)).id,
  }
}

/**
 * Sends a request as the person `as`, or with an access token, as a script does. Routes with a body
 * get `'{}'`.
 */
export async function probe(
  stage: AdminStage,
  { key, answerType }: Route,
  as: string,
  params: Ids,
): Promise<Probe> {
  const [method = 'GET', pattern = ''] = key.split(' ')
  const path = pattern.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? 'none'))
  const leaving = new AbortController()
  const response = await stage.fetch(`/admin/v1${path}`, {
    method,
    headers: {
      ...(as.startsWith('tra-')
        ? { authorization: `Bearer ${as}` }
        : { cookie: `session=${as}`, 'x-tributary-console': '1' }),
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
