// Anthropic, below `/anthropic`.
import type { Exchange, Reply, Vendor } from '../kernel/exchange.ts'
import { oddityNames } from '../kernel/scenario.ts'
import { DECLINED } from './declined.ts'
import { anthropicRoutes } from './endpoint.ts'
import { anthropicFailure } from './errors.ts'
import { MESSAGE_ODDITIES } from './oddities.ts'

export interface AnthropicOptions {
  keys: string[]
  models: string[]
  versions: string[]
}

export const ANTHROPIC_DEFAULTS: AnthropicOptions = {
  keys: ['', '-2', '-3', '-4'].map((account) => `sim-anthropic-key${account}`),
  models: ['sim-claude', 'sim-claude-mini'],
  versions: ['2023-01-01', '2023-06-01', '2026-10-21'],
}

export function anthropic(options: AnthropicOptions): Vendor {
  return {
    name: 'anthropic',
    prefix: '/anthropic',
    requestIdHeader: 'request-id',
    scenarios: [...oddityNames(MESSAGE_ODDITIES), DECLINED],
    routes: anthropicRoutes({ ids: options.models }),
    authenticate: (exchange) => authenticate(exchange, options),
    failure: anthropicFailure,
    malformed: (exchange, message) =>
      anthropicFailure(exchange, {
        status: 400,
        message: `The request body is not valid JSON: ${message}`,
      }),
    notFound: (exchange) => anthropicFailure(exchange, { status: 404, message: 'Not Found' }),
  }
}

function authenticate(exchange: Exchange, options: AnthropicOptions): Reply | undefined {
  const { headers } = exchange.request
  const bearer = headers.authorization?.replace(/^Bearer /, '')
  const key = headers['x-api-key'] ?? bearer
  if (key === undefined) {
    return anthropicFailure(exchange, { status: 401, message: 'x-api-key header is required' })
  }
  if (!options.keys.includes(String(key))) return anthropicFailure(exchange, { status: 401 })
  const version = headers['anthropic-version']
  if (version === undefined) {
    const message = 'anthropic-version: header is required'
    return anthropicFailure(exchange, { status: 400, message })
  }
  if (options.versions.includes(String(version))) return undefined
  const message = `anthropic-version: "${String(version)}" is not a valid version`
  return anthropicFailure(exchange, { status: 400, message })
}
