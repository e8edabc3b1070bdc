// Directives in the caller's text: `[[say:…]]`, `[[tokens:50]]`, `[[fault:status=429]]`. They are
// part of the prompt, so they reach the simulator through any gateway.

export interface ScriptedCall {
  name: string
  args: string
}

export interface Script {
  marker?: string
  say?: string
  tokens?: number
  chunks?: number
  chunkDelayMs?: number
  reason?: string
  stop?: string
  cached: number
  cacheWrite: number
  steps: ScriptedCall[][]
  faults: string[]
  /** The text without its directives. */
  plain: string
}

const NOTHING: Script = { cached: 0, cacheWrite: 0, steps: [], faults: [], plain: '' }

export function readScript(text: string): Script {
  if (!text.includes('[[')) return { ...NOTHING, plain: text }
  const script: Script = { cached: 0, cacheWrite: 0, steps: [[]], faults: [], plain: '' }
  let from = 0
  for (;;) {
    const open = text.indexOf('[[', from)
    if (open < 0) break
    const found = directiveAt(text, open)
    if (!found || !apply(script, found.name, found.value)) {
      script.plain += text.slice(from, open + 2)
      from = open + 2
      continue
    }
    script.plain += text.slice(from, open)
    from = found.end
  }
  script.plain = (script.plain + text.slice(from)).replace(/[ \t]{2,}/g, ' ').trim()
  script.steps = script.steps.filter((step) => step.length > 0)
  return script
}

interface Directive {
  name: string
  value: string
  end: number
}

function directiveAt(text: string, open: number): Directive | undefined {
  const head = /^\[\[([a-z-]+)(:\s*)?/.exec(text.slice(open, open + 40))
  if (!head?.[1]) return undefined
  const start = open + head[0].length
  const close = head[1] === 'tool' ? endOfTool(text, start) : text.indexOf(']]', start)
  if (close < 0) return undefined
  return { name: head[1], value: text.slice(start, close), end: close + 2 }
}

/** Skips the arguments as JSON, since they may contain `]]`. */
function endOfTool(text: string, start: number): number {
  const brace = text.indexOf('{', start)
  const close = text.indexOf(']]', start)
  if (brace < 0 || (close >= 0 && close < brace)) return close
  let depth = 0
  let quoted = false
  for (let at = brace; at < text.length; at += 1) {
    const character = text[at]
    if (quoted) {
      if (character === '\\') at += 1
      else if (character === '"') quoted = false
    } else if (character === '"') quoted = true
    else if (character === '{') depth += 1
    else if (character === '}') {
      depth -= 1
      if (depth === 0) return text.indexOf(']]', at)
    }
  }
  return close
}

const DIRECTIVES: Record<string, (script: Script, value: string) => void> = {
  call: (script, value) => {
    script.marker = value.trim()
  },
  say: (script, value) => {
    script.say = value
  },
  tokens: (script, value) => {
    script.tokens = count(value)
  },
  chunks: (script, value) => {
    script.chunks = Math.max(1, count(value))
  },
  'chunk-delay': (script, value) => {
    script.chunkDelayMs = count(value)
  },
  reason: (script, value) => {
    script.reason = value
  },
  stop: (script, value) => {
    script.stop = value.trim()
  },
  cached: (script, value) => {
    script.cached = count(value)
  },
  'cache-write': (script, value) => {
    script.cacheWrite = count(value)
  },
  fault: (script, value) => {
    script.faults.push(value)
  },
  // Ends a step: the calls after it are made once the results of those before have arrived.
  // biome-ignore lint/suspicious/noThenProperty: the name of a directive, not a promise
  then: (script) => {
    script.steps.push([])
  },
  tool: (script, value) => {
    const [, name = '', args = ''] = /^([^\s{]+)\s*([\s\S]*)$/.exec(value.trim()) ?? []
    script.steps.at(-1)?.push({ name, args: args.trim() || '{}' })
  },
}

function apply(script: Script, name: string, value: string): boolean {
  if (!Object.hasOwn(DIRECTIVES, name)) return false
  DIRECTIVES[name]?.(script, value)
  return true
}

function count(value: string): number {
  const count = Number(value)
  return Number.isFinite(count) ? Math.max(0, Math.floor(count)) : 0
}
