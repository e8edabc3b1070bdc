/**
 * Beta features that a caller may turn on by header. A beta can change the price of a call, so
 * only known ones are forwarded: those that bill nothing but tokens and tools, which requests and
 * answers show, and those whose price is checked before anything is held.
 */
/** Names without the date at their end. */
const KNOWN: ReadonlySet<string> = new Set([
  // Priced by the request's fields and by the served values in the answer.
  'fast-mode',
  'advisor-tool',
  'server-side-fallback',
  'fallback-credit',
  'extended-cache-ttl',
  'context-1m',
  'compact',
  'context-management',
  'code-execution',
  // Tools, whose types are checked in the body.
  'web-search',
  'web-fetch',
  'computer-use',
  'memory-tool',
  'advanced-tool-use',
  'tool-search-tool',
  'tool-examples',
  'mcp-client',
  'skills',
  'files-api',
  // The form of requests and answers.
  'prompt-caching',
  'prompt-caching-scope',
  'interleaved-thinking',
  'adaptive-thinking',
  'fine-grained-tool-streaming',
  'token-efficient-tools',
  'structured-outputs',
  'effort',
  'output-128k',
  'output-300k',
  'pdfs',
  'token-counting',
  'search-results',
  'message-batches',
  'model-context-window-exceeded',
  'dev-full-thinking',
  'redact-thinking',
  'task-budgets',
  'claude-code',
  'oauth',
])

const DATE = /-\d{4}-?\d{2}-?\d{2}$/
const SAFE = /^[\w.-]{1,100}$/

export interface Betas {
  /** The header for the vendor; undefined when no value of it is left. */
  readonly forwarded: string | undefined
  /** Values that are not forwarded. */
  readonly ignored: readonly string[]
}

/** Sorts the values of the header. `allowed` are further values that the operator lets pass. */
export function readBetas(header: unknown, allowed: readonly string[]): Betas {
  if (typeof header !== 'string') return { forwarded: undefined, ignored: [] }
  const values = header.split(',').map((value) => value.trim())
  const distinct = [...new Set(values.filter((value) => value !== ''))]
  const isKnown = (value: string) =>
    allowed.includes(value) || KNOWN.has(value.toLowerCase().replace(DATE, ''))
  const known = distinct.filter(isKnown)
  return {
    forwarded: known.length > 0 ? known.join(',') : undefined,
    ignored: distinct.filter((value) => !isKnown(value)),
  }
}

/** Returns the names of the values left out, for the header that tells them. */
export function nameBetas({ ignored }: Pick<Betas, 'ignored'>): readonly string[] {
  return ignored.map((value) => `anthropic-beta=${SAFE.test(value) ? value : '?'}`)
}
