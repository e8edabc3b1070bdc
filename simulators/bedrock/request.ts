// What Bedrock checks of a Messages body before the model sees it.
import { isObject, type Json, objects, text } from '../kernel/checks.ts'
import { Refused } from '../kernel/exchange.ts'

const VERSIONS = new Set(['bedrock-2023-05-31', '2023-06-01', '2026-10-21'])
const BETAS = new Set([
  'claude-code-20250219',
  'interleaved-thinking-2025-05-14',
  'context-management-2025-06-27',
  'structured-outputs-2025-12-15',
  'computer-use-2025-01-24',
  'token-efficient-tools-2025-02-19',
  'context-1m-2025-08-07',
  'effort-2025-11-24',
  'tool-search-tool-2025-10-19',
  'tool-examples-2025-10-29',
  'output-128k-2025-02-19',
  'fine-grained-tool-streaming-2025-05-14',
])

const invalid = (message: string): Refused =>
  new Refused({ status: 400, code: 'ValidationException', message })

/** Returns the body as the model's own API has it, and its betas. */
export function modelRequest(json: unknown, model: string, stream: boolean) {
  if (!isObject(json)) throw invalid('Malformed input request, please reformat your input.')
  const { anthropic_version: version, anthropic_beta: betas = [], ...rest } = json
  for (const name of ['model', 'stream']) {
    if (name in rest) throw invalid(`${name}: Extra inputs are not permitted`)
  }
  if (version === undefined) throw invalid('anthropic_version: Field required')
  if (!VERSIONS.has(text(version))) throw invalid('anthropic_version: Input is not a valid version')
  if (!Array.isArray(betas) || betas.some((beta) => !BETAS.has(text(beta)))) {
    throw invalid('invalid beta flag')
  }
  checkDeferred(rest, betas)
  return { json: { ...rest, model, stream }, betas: betas.map(String) }
}

function checkDeferred({ tools }: Json, betas: unknown[]): void {
  if (betas.includes('tool-search-tool-2025-10-19')) {
    const searches = objects(tools).some((tool) => text(tool.type).startsWith('tool_search_tool'))
    if (searches) return
  }
  const at = objects(tools).findIndex((tool) => 'defer_loading' in tool)
  if (at >= 0) throw invalid(`tools.${at}.custom.defer_loading: Extra inputs are not permitted`)
}

const PROFILE = /^(?:us|eu|apac|jp|au|us-gov|global)\.anthropic\.(.+)$/
const ARN = /^arn:aws:bedrock:[^:]+:\d*:inference-profile\/(.+)$/

/** Returns the id of the model behind a profile; a bare id is not offered on demand. */
export function checkModelId(id: string): void {
  const profile = ARN.exec(id)?.[1] ?? id
  if (PROFILE.test(profile)) return
  if (id.startsWith('anthropic.')) {
    throw invalid(
      `Invocation of model ID ${id} with on-demand throughput isn’t supported. ` +
        'Retry your request with the ID or ARN of an inference profile that contains this model.',
    )
  }
  throw invalid('The provided model identifier is invalid.')
}
