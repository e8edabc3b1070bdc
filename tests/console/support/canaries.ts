/**
 * Puts a unique value into every place that keeps a secret, and makes calls whose vendors repeat
 * the key that they were given. None of these values may appear anywhere afterwards.
 */
import type { APIRequestContext } from 'playwright-core'
import { type ConsoleStage, PASSWORD } from './stage.ts'
import { codeOf } from './totp.ts'

/** No prefix gives it away: providers' keys look like anything. */
export const PROVIDER_KEY = '5f0c1d52-canary-0f-a-provider-7c1e'
const PROMPT = 'canarywordofaprompt'
const MODEL = 'canary-chat'
const VIDEO = 'doubao-seedance-2-5-260628'

/** The values by the kind of their secret. */
export type Canaries = Map<string, string>

export interface Planted {
  readonly canaries: Canaries
  /** Names that a path may have. */
  readonly ids: Readonly<Record<string, string>>
  /** What callers were answered when vendors failed. */
  readonly refusals: readonly string[]
}

type Send = (method: string, path: string, data?: object) => Promise<unknown>

/** Returns a sender of console requests with the cookies of the signed-in person. */
function sender(stage: ConsoleStage, request: APIRequestContext): Send {
  return async (method, path, data) => {
    const answer = await request.fetch(`${stage.url}/admin/v1${path}`, {
      method,
      headers: { 'x-tributary-console': '1' },
      ...(data ? { data } : {}),
    })
    if (!answer.ok()) throw new Error(`${method} ${path}: ${await answer.text()}`)
    return answer.status() === 204 ? undefined : answer.json()
  }
}

export async function plant(
  stage: ConsoleStage,
  owner: APIRequestContext,
  operator: APIRequestContext,
): Promise<Planted> {
  const canaries: Canaries = new Map([
    ['a password', PASSWORD],
    ['a provider’s key', PROVIDER_KEY],
    ['a prompt', PROMPT],
  ])
  await addChannel(stage, sender(stage, operator))
  await plantInAccount(stage, sender(stage, owner), canaries)
  for (const [who, request] of [
    ['owner', owner],
    ['operator', operator],
  ] as const) {
    await plantInPerson(stage, who, sender(stage, request), canaries)
    const { cookies } = await request.storageState()
    for (const { name, value } of cookies) canaries.set(`${who}’s ${name}`, value)
  }
  const key = canaries.get('an API key') ?? ''
  const refusals = await fail(stage, key)
  return { canaries, refusals, ids: { ...(await succeed(stage, key)), model_id: MODEL } }
}

async function addChannel(stage: ConsoleStage, send: Send): Promise<void> {
  const settings = { base_url: `${stage.simulators.url}/openai/v1`, api_key: PROVIDER_KEY }
  await send('PUT', '/operator/channels/canary', { upstream: 'openai-compatible', settings })
  await send('PUT', `/operator/models/${MODEL}`, {
    type: 'chat',
    currency: 'CNY',
    limits: {},
    details: {},
    prices: [{ unit: 'output_token', per: 1_000_000, amount: '1' }],
    routes: [{ channel: 'canary', upstream_model: 'sim-chat', priority: 0, weight: 1 }],
  })
}

async function plantInAccount(stage: ConsoleStage, send: Send, canaries: Canaries): Promise<void> {
  const account = `/accounts/${stage.account.id}`
  const apiKey = (await send('POST', `${account}/keys`, { name: 'canary' })) as { key: string }
  canaries.set('an API key', apiKey.key)
  const created = (await send('POST', `${account}/playground-key`)) as { key: string }
  canaries.set('a key of the playground', created.key)
  for (const act of ['reveal', 'rotate']) {
    const shown = (await send('POST', `${account}/webhooks/secret/${act}`)) as { secret: string }
    canaries.set(`the webhooks’ secret (${act})`, shown.secret)
  }
}

async function plantInPerson(
  stage: ConsoleStage,
  who: string,
  send: Send,
  canaries: Canaries,
): Promise<void> {
  const accessToken = (await send('POST', '/profile/tokens', { name: 'canary' })) as {
    token: string
  }
  // Whatever its last character was typed as.
  canaries.set(`${who}’s access token`, accessToken.token.slice(0, -1))
  await actWithToken(stage, accessToken.token)
  const { secret } = (await send('POST', '/profile/totp')) as { secret: string }
  canaries.set(`${who}’s authenticator`, secret)
  const body = { code: codeOf(secret) }
  const confirmed = (await send('POST', '/profile/totp/confirm', body)) as {
    recovery_codes: string[]
  }
  for (const code of confirmed.recovery_codes) canaries.set(`${who}’s ${code.slice(0, 2)}…`, code)
}

/** Uses a script's token, and one with a typing error, which may be valid at another gateway. */
async function actWithToken(stage: ConsoleStage, token: string): Promise<void> {
  for (const [bearer, status] of [
    [token, 200],
    [`${token.slice(0, -1)}_`, 401],
  ] as const) {
    const headers = { authorization: `Bearer ${bearer}` }
    const answer = await fetch(`${stage.url}/admin/v1/me`, { headers })
    const text = await answer.text()
    if (answer.status !== status || text.includes(bearer)) throw new Error(`/me: ${text}`)
  }
}

/** Makes the vendor repeat its key in every kind of failure. */
async function fail(stage: ConsoleStage, key: string): Promise<string[]> {
  const errorMessage = `error-message=the key ${PROVIDER_KEY} is wrong`
  const faults = [400, 401, 403, 404, 429, 500, 503].map((status) => `status=${status}`)
  const refusals: string[] = []
  for (const fault of [...faults, 'error-200', 'error-mid=nested', 'error-mid=in-choice']) {
    for (const stream of [false, true]) {
      const content = `[[fault:${fault};${errorMessage}]] ${PROMPT}`
      const body = { model: MODEL, stream, messages: [{ role: 'user', content }] }
      refusals.push(await answerOf(stage, key, '/v1/chat/completions', body))
    }
  }
  return refusals
}

async function answerOf(
  stage: ConsoleStage,
  key: string,
  path: string,
  body: object,
): Promise<string> {
  const answer = await stage.post(path, body, { authorization: `Bearer ${key}` })
  const heads = [...answer.headers].map((pair) => pair.join(': ')).join('\n')
  return `${answer.status}\n${heads}\n\n${await answer.text()}`
}

/** One record of each kind that the console shows. */
async function succeed(stage: ConsoleStage, key: string): Promise<Record<string, string>> {
  const post = (path: string, body: object) =>
    stage.post(path, body, { authorization: `Bearer ${key}` })
  const content = [{ type: 'text', text: PROMPT }]
  const video = await post('/v1/videos/generations', { model: VIDEO, content })
  await post('/v1/search', { Type: 'web', Query: PROMPT }).then((one) => one.text())
  const messages = [{ role: 'user', content: PROMPT }]
  const call = await post('/v1/chat/completions', { model: 'sim-chat', messages })
  await call.text()
  const { id } = (await video.json()) as { id: string }
  return { task_id: id, request_id: call.headers.get('x-request-id') ?? '', channel_id: 'canary' }
}
