/**
 * Reads exports that are pages of time buckets. OpenAI: `GET /v1/organization/costs` and
 * `/v1/organization/usage/completions`; Anthropic: `GET /v1/organizations/cost_report` and
 * `/v1/organizations/usage_report/messages`. A file has one page, an array of pages, or a page per
 * line. Days are UTC.
 */
import { readFileSync } from 'node:fs'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import {
  type InvoiceRow,
  readDay,
  readInvoiceCount,
  readInvoiceCurrency,
  readMoney,
} from './invoice.ts'

type Fields = Readonly<Record<string, unknown>>

export function* readPages(path: string): Generator<InvoiceRow> {
  const pages = parsePages(readFileSync(path, 'utf8').replace(/^\ufeff/, ''))
  checkPages(pages)
  for (const [place, page] of pages.entries()) {
    const where = `page ${place + 1}`
    for (const [at, bucket] of list(page.data, `${where}: data`).entries()) {
      yield* readBucket(bucket, `${where}, data[${at}]`)
    }
  }
}

/** Throws OperatorError for an export that is cut off, or that has a page twice. */
function checkPages(pages: readonly Fields[]): void {
  const { has_more: hasMore = null } = pages.at(-1) ?? {}
  if (hasMore !== null && hasMore !== false) {
    throw new OperatorError('the export is not complete: its last page says has_more')
  }
  const seen = new Map<string, number>()
  for (const [place, { data }] of pages.entries()) {
    const content = JSON.stringify(data)
    const earlier = seen.get(content)
    if (earlier !== undefined && content !== '[]') {
      throw new OperatorError(`page ${place + 1} repeats page ${earlier + 1}: remove one of them`)
    }
    seen.set(content, place)
  }
}

function parsePages(text: string): Fields[] {
  const whole = tryParse(text)
  if (whole !== undefined) return (Array.isArray(whole) ? whole : [whole]).map(toPage)
  const lines = text.split('\n')
  const pages = lines.flatMap((line, place) => {
    if (line.trim() === '') return []
    const page = tryParse(line)
    if (page === undefined) throw new OperatorError(`line ${place + 1}: not JSON`)
    return [toPage(page, place)]
  })
  if (pages.length === 0) throw new OperatorError('the export is empty')
  return pages
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function toPage(value: unknown, place: number): Fields {
  if (isFields(value) && Array.isArray(value.data)) return value
  throw new OperatorError(`page ${place + 1}: not a page of a cost or usage report: it has no data`)
}

function* readBucket(bucket: Fields, where: string): Generator<InvoiceRow> {
  const day = readStart(bucket.start_time ?? bucket.starting_at, where)
  for (const [place, result] of list(bucket.results, `${where}.results`).entries()) {
    yield { day, ...readResult(result, `${where}.results[${place}]`) }
  }
}

function readStart(value: unknown, where: string): string {
  const time = new Date(typeof value === 'number' ? value * 1_000 : String(value))
  if (value === undefined || value === null || Number.isNaN(time.getTime())) {
    throw new OperatorError(`${where}: no start_time or starting_at`)
  }
  return readDay(time.toISOString(), where)
}

function readResult(result: Fields, where: string): Omit<InvoiceRow, 'day'> {
  const { amount } = result
  if (isFields(amount)) {
    return {
      // `gpt-4o-2024-08-06, input`: the model, then the item.
      model: text(result.line_item)?.replace(/, [^,]*$/, '') ?? null,
      amount: readMoney(amount.value, `${where}.amount.value`),
      currency: readInvoiceCurrency(amount.currency, `${where}.amount.currency`),
    }
  }
  if (amount !== undefined && amount !== null) {
    return {
      model: text(result.model) ?? text(result.description) ?? null,
      // In hundredths of the currency.
      amount: readMoney(amount, `${where}.amount`, -2),
      currency: readInvoiceCurrency(result.currency ?? 'USD', `${where}.currency`),
    }
  }
  return { model: text(result.model) ?? null, ...readUsage(result, where) }
}

function readUsage(result: Fields, where: string): Pick<InvoiceRow, 'requests' | 'units'> {
  const count = (name: string, from: Fields = result) =>
    from[name] === undefined || from[name] === null
      ? 0
      : readInvoiceCount(from[name], `${where}.${name}`)
  if ('uncached_input_tokens' in result) {
    const creation = isFields(result.cache_creation) ? result.cache_creation : {}
    const tools = isFields(result.server_tool_use) ? result.server_tool_use : {}
    const units = {
      input_token: count('uncached_input_tokens'),
      cached_input_token: count('cache_read_input_tokens'),
      cache_write_5m_token: count('ephemeral_5m_input_tokens', creation),
      cache_write_1h_token: count('ephemeral_1h_input_tokens', creation),
      output_token: count('output_tokens'),
      web_search_call: count('web_search_requests', tools),
    }
    return { units }
  }
  if (!('input_tokens' in result || 'output_tokens' in result)) {
    throw new OperatorError(`${where}: neither an amount nor tokens`)
  }
  const [cached, audioIn] = [count('input_cached_tokens'), count('input_audio_tokens')]
  const audioOut = count('output_audio_tokens')
  const input = count('input_tokens') - cached - audioIn
  const output = count('output_tokens') - audioOut
  if (input < 0 || output < 0) {
    throw new OperatorError(`${where}: fewer tokens than its cached and audio tokens`)
  }
  const units = {
    input_token: input,
    cached_input_token: cached,
    audio_input_token: audioIn,
    output_token: output,
    audio_output_token: audioOut,
  }
  return { requests: count('num_model_requests'), units }
}

function list(value: unknown, where: string): Fields[] {
  if (Array.isArray(value) && value.every(isFields)) return value
  throw new OperatorError(`${where}: not a list of objects`)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
