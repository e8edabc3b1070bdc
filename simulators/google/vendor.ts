// Google, below `/google`: its token endpoint, Gemini by key and on Vertex AI, and Claude there.
import type { Exchange, Reply, Vendor } from '../kernel/exchange.ts'
import { whole } from '../kernel/exchange.ts'
import { claudeRoute } from './claude.ts'
import { contentsRoute } from './contents/endpoint.ts'
import { CONTENTS_SCENARIOS } from './contents/oddities.ts'
import { googleFailure } from './errors.ts'
import { isValidToken, type Tokens, tokenRoute, tokensOf } from './tokens.ts'

export interface GoogleOptions {
  tokens: Tokens
  keys: string[]
  models: string[]
}

export const googleDefaults = (): GoogleOptions => ({
  tokens: tokensOf(),
  keys: ['', '-2', '-3'].map((account) => `sim-google-key${account}`),
  models: ['sim-gemini-2.5', 'sim-gemini-3', 'sim-gemini-4'],
})

export function google({ tokens, keys, models }: GoogleOptions): Vendor {
  return {
    name: 'google',
    prefix: '/google',
    requestIdHeader: 'x-request-id',
    scenarios: CONTENTS_SCENARIOS,
    routes: [
      tokenRoute(tokens),
      claudeRoute(),
      contentsRoute('/v1beta/models'),
      contentsRoute('/{version}/projects/{project}/locations/{location}/publishers/google/models'),
      {
        method: 'GET',
        path: '/v1beta/models',
        operation: 'models',
        handle: () => whole(200, { models: models.map((id) => ({ name: `models/${id}` })) }),
      },
      {
        method: 'GET',
        path: '/v1beta1/publishers/google/models',
        operation: 'models',
        handle: () =>
          whole(200, {
            publisherModels: models.map((id) => ({ name: `publishers/google/models/${id}` })),
          }),
      },
      {
        method: 'GET',
        path: '/v1beta1/publishers/anthropic/models',
        operation: 'models',
        handle: () => {
          const name = 'publishers/anthropic/models/sim-claude'
          return whole(200, { publisherModels: [{ name, versionId: '20260101' }] })
        },
      },
    ],
    authenticate: (exchange) => authenticate(exchange, tokens, keys),
    failure: googleFailure,
    malformed: (exchange, message) => googleFailure(exchange, { status: 400, message }),
    notFound: (exchange) => googleFailure(exchange, { status: 404, message: 'Not found.' }),
  }
}

function authenticate(exchange: Exchange, tokens: Tokens, keys: string[]): Reply | undefined {
  if (exchange.path === '/token') return undefined
  if (exchange.path.startsWith('/v1beta/')) return checkKey(exchange, keys)
  const token = /^Bearer (.+)$/.exec(exchange.request.headers.authorization ?? '')?.[1] ?? ''
  if (isValidToken(tokens, token)) return undefined
  const message = 'Request had invalid authentication credentials.'
  return googleFailure(exchange, { status: 401, message })
}

/** A key that is wrong is a 400, one that is missing a 403. */
function checkKey(exchange: Exchange, keys: string[]): Reply | undefined {
  const named = new URLSearchParams(exchange.query).get('key')
  const key = exchange.request.headers['x-goog-api-key'] ?? named
  if (key === undefined || key === null) {
    const message = "Method doesn't allow unregistered callers."
    return googleFailure(exchange, { status: 403, message })
  }
  if (keys.includes(String(key))) return undefined
  const message = 'API key not valid. Please pass a valid API key.'
  return googleFailure(exchange, { status: 400, code: 'API_KEY_INVALID', message })
}
