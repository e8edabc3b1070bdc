/** Code blocks: curl commands for pasting, and formatted JSON. */
import type { ReferenceOperation } from '../operation.ts'
import { credentialOf, extraHeaders } from './credential.ts'
import { type Html, html } from './html.ts'

/** Maximum length of a line of JSON. */
const LINE_LENGTH_MAX = 57

export function curlCommand(operation: ReferenceOperation, publicUrl: string): string {
  const { method, paths, example } = operation
  const credential = credentialOf(operation, publicUrl)
  const body = example?.body
  const form = Object.entries(example?.form ?? {})
  const url = quoteUrl(publicUrl + (example?.path ?? paths[0]))
  const lines = [
    `curl ${streams(body) ? '-N ' : ''}${methodOption(method, body ?? example?.form)}${url}`,
    ...(credential
      ? [`-H "${credential.header}: ${credential.prefix}$${credential.variable}"`]
      : []),
    ...extraHeaders(operation).map(([name, value]) => `-H '${name}: ${value}'`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoteBody(body)}`]),
    ...form.map(([name, value]) => `-F '${name}=${value}'`),
  ]
  return lines.join(' \\\n  ')
}

/** Returns curl's method option, which it does not need for GET and for POST with a body. */
function methodOption(method: string, body: unknown): string {
  const isPlain = method === 'GET' || (method === 'POST' && body !== undefined)
  return isPlain ? '' : `-X ${method} `
}

function streams(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'stream' in body && body.stream === true
}

/** `{account_id}` becomes `$ACCOUNT_ID`. */
function quoteUrl(url: string): string {
  const filled = url.replace(/\{(\w+)\}/g, (_, name: string) => `$${name.toUpperCase()}`)
  return filled === url ? quote(url) : `"${filled}"`
}

/** Quotes a text if a shell would change it. */
function quote(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

function quoteBody(body: unknown): string {
  return `'${formatJson(body).replaceAll("'", "'\\''")}'`
}

/** Formats JSON; values that fit stay on one line, of which `used` characters are taken. */
function formatJson(value: unknown, indent = '', used = 0): string {
  const flat = JSON.stringify(value, null, 1).replace(/\n */g, ' ')
  const fits = indent.length + used + flat.length <= LINE_LENGTH_MAX
  if (fits || typeof value !== 'object' || value === null) return flat
  const inner = `${indent}  `
  const members = Array.isArray(value)
    ? value.map((item) => formatJson(item, inner))
    : Object.entries(value).map(([key, item]) => `"${key}": ${formatJson(item, inner, key.length)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return `${open}\n${inner}${members.join(`,\n${inner}`)}\n${indent}${close}`
}

const TOKEN = /("(?:[^"\\]|\\.)*"?)(:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?/g

/** Formats JSON with classes for its keys, strings and other values. */
export function highlightJson(value: unknown): Html {
  const text = formatJson(value)
  const parts: Html[] = []
  let at = 0
  for (const match of text.matchAll(TOKEN)) {
    const [token, quoted, colon] = match
    parts.push(html`${text.slice(at, match.index)}`)
    const kind = colon !== undefined ? 'key' : quoted !== undefined ? 'text' : 'value'
    parts.push(html`<span class="json-${kind}">${quoted ?? token}</span>${colon}`)
    at = match.index + token.length
  }
  return html`${parts}${text.slice(at)}`
}

/** With `language`, it is one of several blocks from which the reader chooses. */
export function codeBlock(title: string, code: Html | string, language?: string): Html {
  const mark = language === undefined ? undefined : html` data-language="${language}"`
  return html`<figure class="code"${mark}><figcaption>${title}</figcaption>
<pre tabindex="0"><code>${code}</code></pre></figure>`
}
