// Google, below `/google`: its token endpoint, and Claude on Vertex AI.
import type { Exchange, Reply, Vendor } from '../kernel/exchange.ts'
import { whole } from '../kernel/exchange.ts'
import { claudeRoute } from './claude.ts'
import { googleFailure } from './errors.ts'
import { isValidToken, type Tokens, tokenRoute, tokensOf } from './tokens.ts'

export interface GoogleOptions {
  tokens: Tokens
}

export const googleDefaults = (): GoogleOptions => ({ tokens: tokensOf() })

export function google({ tokens }: GoogleOptions): Vendor {
  return {
    name: 'google',
    prefix: '/google',
    requestIdHeader: 'x-request-id',
    scenarios: [],
    routes: [
      tokenRoute(tokens),
      claudeRoute(),
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
    authenticate: (exchange) => authenticate(exchange, tokens),
    failure: googleFailure,
    malformed: (exchange, message) => googleFailure(exchange, { status: 400, message }),
    notFound: (exchange) => googleFailure(exchange, { status: 404, message: 'Not found.' }),
  }
}

function authenticate(exchange: Exchange, tokens: Tokens): Reply | undefined {
  if (exchange.path === '/token') return undefined
  const token = /^Bearer (.+)$/.exec(exchange.request.headers.authorization ?? '')?.[1] ?? ''
  if (isValidToken(tokens, token)) return undefined
  const message = 'Request had invalid authentication credentials.'
  return googleFailure(exchange, { status: 401, message })
}
