// Claude on Vertex AI: the answers of Anthropic's simulator at Google's paths.
import { messageTurns } from '../anthropic/conversation.ts'
import { answerMessages } from '../anthropic/endpoint.ts'
import { isObject, text } from '../kernel/checks.ts'
import type { Exchange, Reply, Route } from '../kernel/exchange.ts'
import { scriptText } from '../model/conversation.ts'
import { invalid } from './errors.ts'

const VERSIONS = new Set(['vertex-2023-10-16', '2023-06-01', '2026-10-21'])
const BETAS = new Set([
  'claude-code-20250219',
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'tool-search-tool-2025-10-19',
  'tool-examples-2025-10-29',
  'context-1m-2025-08-07',
  'web-search-2025-03-05',
])

const PLACE = '/{version}/projects/{project}/locations/{location}/publishers'

export function claudeRoute(): Route {
  return {
    method: 'POST',
    path: `${PLACE}/anthropic/models/{id}`,
    operation: 'messages',
    text: (json) => scriptText(messageTurns(json)),
    handle: answerClaude,
  }
}

function answerClaude(exchange: Exchange): Reply {
  const { json } = exchange
  if (!isObject(json)) throw invalid('Request contains an invalid argument.')
  const { anthropic_version: version, ...rest } = json
  if ('model' in rest) throw invalid('model: Extra inputs are not permitted')
  if (version === undefined) throw invalid('anthropic_version: Field required')
  if (!VERSIONS.has(text(version))) throw invalid('anthropic_version: Input is not a valid version')
  const betas = text(exchange.request.headers['anthropic-beta']).split(',')
  const unknown = betas.find((beta) => beta !== '' && !BETAS.has(beta))
  if (unknown) {
    throw invalid(`Unexpected value(s) \`${unknown}\` for the \`anthropic-beta\` header.`)
  }
  const last = decodeURIComponent(exchange.path.split('/').at(-1) ?? '')
  const [, model = '', method = ''] = /^(.+):(rawPredict|streamRawPredict)$/.exec(last) ?? []
  if (model === '') throw invalid('no such method')
  if ((rest.stream === true) !== (method === 'streamRawPredict')) {
    throw invalid('stream does not fit the method')
  }
  return answerMessages({ ...exchange, json: { ...rest, model } }, { ids: [model] })
}
