/** Free requests of a channel's vendor: the test of its key, and the list of its models. */
import type { Dispatcher } from 'undici'
import { asString, isObject, member, tryParseJson } from '../../../base/lib/json.ts'
import { readErrorBody } from '../../../wire/upstreams/failure.ts'
import { readJsonDocument } from '../../../wire/upstreams/read-json.ts'
import type { Upstream } from '../../../wire/upstreams/upstream.ts'
import type { Wire, WireResponse } from '../../../wire/upstreams/wire.ts'
import { Deadline } from './deadline.ts'
import { openReadingWire } from './wire.ts'

const PROBE_MS = 10_000
const MESSAGE_LENGTH_MAX = 200
const LIST_BYTES_MAX = 8 * 1024 * 1024
/** The longest upstream model that a route can name. */
const MODEL_LENGTH_MAX = 200
const MODELS_MAX = 5_000

/**
 * Returns a function that sends the request with each key; undefined if the vendor has no free one.
 */
export function probeOf(
  upstream: Pick<Upstream, 'probe' | 'eachKey'> | undefined,
  settings: unknown,
  dispatcher: Dispatcher,
): (() => Promise<string>) | undefined {
  const probe = upstream?.probe
  if (!probe) return undefined
  const [first = settings, ...others] = upstream?.eachKey?.(settings) ?? []
  return async () => {
    let verdict = ''
    const keys = [first, ...others]
    for (const [index, keyed] of keys.entries()) {
      const { response, addresses } = await ask(probe, keyed, dispatcher)
      const judged = judge(response.status, readMessage(await readErrorBody(response)), addresses)
      if (judged.kind === 'refused') {
        const which = keys.length > 1 ? ` (key ${index + 1} of ${keys.length})` : ''
        throw new Error(`${judged.text}${which}`)
      }
      verdict = judged.kind === 'untested' ? `not tested: ${judged.text}` : judged.text
    }
    return verdict
  }
}

/** `detail` is the address of the list, or the reason why there is none. */
export interface VendorModelList {
  readonly ok: boolean
  readonly detail: string
  readonly models: readonly string[]
}

/** Reads the names of the vendor's models, with the channel's first key. */
export async function readVendorModels(
  upstream: Pick<Upstream, 'listModels' | 'eachKey'> | undefined,
  settings: unknown,
  dispatcher: Dispatcher,
): Promise<VendorModelList> {
  const request = upstream?.listModels
  if (!request) return noList('this protocol has no list of models')
  const [keyed = settings] = upstream?.eachKey?.(settings) ?? []
  try {
    const { response, addresses } = await ask(request, keyed, dispatcher)
    if (response.status < 300 && addresses.length === 1) return await readList(response, addresses)
    const message = readMessage(await readErrorBody(response))
    return noList(judge(response.status, message, addresses).text)
  } catch (error) {
    return noList(error instanceof Error ? error.message : String(error))
  }
}

const noList = (detail: string): VendorModelList => ({ ok: false, detail, models: [] })

/** Some vendors answer with just the list, without an object around it. */
async function readList(
  response: WireResponse,
  addresses: readonly string[],
): Promise<VendorModelList> {
  const document = await readJsonDocument(response, LIST_BYTES_MAX)
  const list = isObject(document) ? member(document, 'data') : document
  const tried = addresses.join()
  if (!Array.isArray(list)) return noList(`the answer of ${tried} is not a list of models`)
  const names = list.flatMap((one) => asString(member(one, 'id')) ?? [])
  const usable = names.filter((name) => name !== '' && name.length <= MODEL_LENGTH_MAX)
  const models = [...new Set(usable)].slice(0, MODELS_MAX).sort()
  return { ok: true, detail: tried, models }
}

/** A wire for free requests, which only reads. */
export function openProbeWire(dispatcher: Dispatcher): Wire {
  return openReadingWire({
    dispatcher,
    firstByteTimeoutMs: PROBE_MS,
    idleTimeoutMs: PROBE_MS,
    deadline: new Deadline(PROBE_MS),
    connectTimeoutMs: PROBE_MS,
    socketsMax: 1,
  })
}

interface Asked {
  readonly response: WireResponse
  /** The requested addresses without their queries, which may hold a key. */
  readonly addresses: readonly string[]
}

/** Sends a free request on a wire that only reads. */
async function ask(
  send: NonNullable<Upstream['probe']>,
  keyed: unknown,
  dispatcher: Dispatcher,
): Promise<Asked> {
  const wire = openProbeWire(dispatcher)
  const addresses: string[] = []
  const noting: Wire = {
    ...wire,
    send(request) {
      const { origin, pathname } = new URL(request.url)
      if (!request.forCredential) addresses.push(`${origin}${pathname}`)
      return wire.send(request)
    },
  }
  return { response: await send(noting, keyed), addresses }
}

interface Verdict {
  /** `untested`: the answer says nothing about the key. */
  readonly kind: 'accepted' | 'untested' | 'refused'
  readonly text: string
}

/** Vendors refuse wrong keys with 400, 401 or 403. */
function judge(status: number, message: string | undefined, addresses: readonly string[]): Verdict {
  const reason = message === undefined ? '' : `: ${message}`
  const tried = addresses.join(' and ')
  // The second address is that of calls, which cannot be tested with a GET.
  const isOfCalls = addresses.length > 1
  if (status === 404 && isOfCalls) {
    const hint = 'does the address (base_url) end as the vendor says, usually in /v1?'
    return { kind: 'refused', text: `nothing is at ${tried} (404): ${hint}` }
  }
  if (isOfCalls && status !== 401 && status !== 403) {
    const text = `the vendor has no list of models; ${tried} answered ${status}`
    return { kind: 'untested', text }
  }
  if (status < 300) return { kind: 'accepted', text: `the vendor accepts the key at ${tried}` }
  if (status === 404 || status === 405) {
    return { kind: 'untested', text: `the vendor has no such request at ${tried} (${status})` }
  }
  if (status === 401 || status === 403 || status === 400) {
    return { kind: 'refused', text: `the vendor refuses the key (${status})${reason}` }
  }
  return { kind: 'refused', text: `the vendor answered ${status}${reason}` }
}

function readMessage(body: Buffer): string | undefined {
  const answer = tryParseJson(body)
  const message =
    asString(member(member(answer, 'error'), 'message')) ?? asString(member(answer, 'message'))
  return message?.slice(0, MESSAGE_LENGTH_MAX)
}
