/**
 * Fills templates with values of a request. The template is parsed JSON and its texts are cut into
 * parts once, so that a caller's bytes become a single value, whatever they contain, and are never
 * read as a template, a path or a member name.
 */
import { isObject, type JsonObject } from '../../../base/lib/json.ts'
import { joinUrl } from '../../../base/lib/text/base-url.ts'
import { trimEnd } from '../../../base/lib/text/trim-end.ts'
import { UpstreamFailure } from '../failure.ts'

/** Values by the names of placeholders; an absent one removes the member that names it. */
export type Values = ReadonlyMap<string, unknown>

interface Part {
  readonly literal: string
  /** The placeholder after the literal. */
  readonly name?: string
  readonly isText?: boolean
}

/** Cuts a text at its placeholders: `{{name}}`, or `{{name:text}}` for a number as a text. */
function cut(text: string): readonly Part[] {
  const parts: Part[] = []
  let from = 0
  for (;;) {
    const open = text.indexOf('{{', from)
    const close = open < 0 ? -1 : text.indexOf('}}', open)
    if (close < 0) return [...parts, { literal: text.slice(from) }]
    const [name = '', kind] = text.slice(open + 2, close).split(':')
    parts.push({ literal: text.slice(from, open), name: name.trim(), isText: kind === 'text' })
    from = close + 2
  }
}

/** Returns the names of all placeholders in a template. */
export function listNames(template: unknown): ReadonlySet<string> {
  const names = new Set<string>()
  const pending = [template]
  for (let one = pending.pop(); pending.length > 0 || one !== undefined; one = pending.pop()) {
    if (typeof one === 'string') for (const { name } of cut(one)) if (name) names.add(name)
    if (typeof one === 'object' && one !== null) pending.push(...Object.values(one))
  }
  return names
}

/** Returns the body without objects and lists that have become empty. */
export function renderBody(template: JsonObject, values: Values): JsonObject {
  const rendered = render(template, values)
  return isObject(rendered) ? rendered : {}
}

function render(template: unknown, values: Values): unknown {
  if (typeof template === 'string') return renderText(template, values)
  if (Array.isArray(template)) {
    const items = template.flatMap((item) => {
      const one = render(item, values)
      return one === undefined ? [] : [one]
    })
    return items.length === 0 && template.length > 0 ? undefined : items
  }
  if (!isObject(template)) return template
  return renderObject(template, values)
}

/** An object whose placeholders are all absent is left out, with its literals. */
function renderObject(template: JsonObject, values: Values): unknown {
  const names = listNames(template)
  const isPresent = (name: string) => values.get(name) !== undefined
  if (names.size > 0 && ![...names].some(isPresent)) return undefined
  const entries = Object.entries(template).flatMap(([name, inner]) => {
    const one = render(inner, values)
    return one === undefined ? [] : [[name, one] as const]
  })
  return Object.fromEntries(entries)
}

function renderText(text: string, values: Values): unknown {
  const parts = cut(text)
  const [only, rest] = parts
  const isWhole = parts.length === 2 && only?.literal === '' && rest?.literal === ''
  if (isWhole && only.name !== undefined && !only.isText) return values.get(only.name)
  return join(parts, values, (value) => value)
}

/** Returns undefined if a value is absent. Throws for a value that is no text. */
function join(
  parts: readonly Part[],
  values: Values,
  write: (text: string, name: string) => string,
) {
  const texts: string[] = []
  for (const { literal, name } of parts) {
    texts.push(literal)
    if (name === undefined) continue
    const value = values.get(name)
    if (value === undefined) return undefined
    if (typeof value === 'object') {
      const message = `${name}: must be a text, a number or a boolean`
      throw new UpstreamFailure('rejected', { status: 400, message, param: name })
    }
    texts.push(write(String(value), name))
  }
  return texts.join('')
}

/** Names chosen by the operator, in which slashes are kept. */
const WITH_SLASHES: ReadonlySet<string> = new Set(['upstream_model', 'upstream_app'])

/**
 * Returns the address of a request. A parameter of the query without a value is left out; a path
 * without one, or one that would lead anywhere else, is a fault of the channel.
 */
export function renderUrl(baseUrl: string, template: string, values: Values): string {
  const [path = '', query = ''] = template.split('?')
  const encode = (text: string, name: string) => {
    // Half of a surrogate pair cannot be encoded.
    const whole = text.toWellFormed()
    if (!WITH_SLASHES.has(name)) return encodeURIComponent(whole)
    return whole.split('/').map(encodeURIComponent).join('/')
  }
  const filled = join(cut(path), values, encode)
  const isStray = filled === undefined || filled.split('/').some((one) => /^\.{1,2}$/.test(one))
  const pairs = query.split('&').flatMap((pair) => join(cut(pair), values, encode) ?? [])
  const whole = pairs.filter((pair) => pair !== '').join('&')
  const url = joinUrl(baseUrl, whole === '' ? (filled ?? '') : `${filled}?${whole}`)
  // The resulting address decides, however it was composed.
  if (isStray || !URL.parse(url)?.href.startsWith(`${trimEnd(originOf(baseUrl), '/')}/`)) {
    throw new UpstreamFailure('channel_fault', { message: `no request leads to ${template}` })
  }
  return url
}

function originOf(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl)
  return origin + pathname
}
