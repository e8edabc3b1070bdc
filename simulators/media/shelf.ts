// Object storage: generated files at unguessable URLs that expire, below `/media`. Files are
// rendered when they are fetched; ranges are supported, so that a browser can seek.
import { randomBytes } from 'node:crypto'
import type { Exchange, Failure, Reply, Vendor, WholeReply } from '../kernel/exchange.ts'
import type { Shelf, ShelvedFile } from '../kernel/platform.ts'
import { PCM_UNIT_SECONDS, pcmOf, wavHeader } from '../openspeech/audio/pcm.ts'
import { timelineOf } from '../openspeech/audio/timeline.ts'

const KEPT = 200_000
const RENDERED_KEPT = 8
const SAMPLES = 'samples/'

interface Shelved extends ShelvedFile {
  expiresAt: number
}

export interface MediaShelf extends Shelf {
  vendor: Vendor
}

export function createShelf(timeScale: number): MediaShelf {
  const files = new Map<string, Shelved>()
  const rendered = new Map<string, Buffer>()
  const put = (file: ShelvedFile, lifeMs: number): string => {
    const key = `${randomBytes(12).toString('hex')}/${file.name}`
    files.set(key, { ...file, expiresAt: Date.now() + lifeMs * timeScale })
    const [oldest] = files.size > KEPT ? files.keys() : []
    if (oldest !== undefined) files.delete(oldest)
    return `/media/${key}?X-Tos-Expires=${Math.ceil((lifeMs * timeScale) / 1000)}`
  }
  const bytesOf = (key: string, file: Shelved): Buffer => {
    const cached = rendered.get(key)
    if (cached) return cached
    const bytes = file.render()
    rendered.set(key, bytes)
    const [oldest] = rendered.size > RENDERED_KEPT ? rendered.keys() : []
    if (oldest !== undefined) rendered.delete(oldest)
    return bytes
  }
  const handle = (exchange: Exchange): Reply => {
    const key = exchange.path.slice(1)
    const { range } = exchange.request.headers
    if (key.startsWith(SAMPLES)) {
      const sample = sampleRecording(key.slice(SAMPLES.length), exchange.query)
      return sample ? ranged(sample, 'audio/wav', range) : refusal(404, 'NoSuchKey')
    }
    const file = files.get(key)
    if (!file) return refusal(404, 'NoSuchKey')
    if (Date.now() > file.expiresAt) return refusal(403, 'AccessDenied')
    return ranged(bytesOf(key, file), file.contentType, range)
  }
  return { put, vendor: mediaVendor(handle) }
}

function mediaVendor(handle: (exchange: Exchange) => Reply): Vendor {
  const path = '/{key}/{name}'
  const failure = (_: Exchange, { status }: Failure) => refusal(status, 'InternalError')
  return {
    name: 'media',
    prefix: '/media',
    requestIdHeader: 'x-tos-request-id',
    scenarios: [],
    routes: [
      { method: 'GET', path, operation: 'media.get', handle },
      { method: 'HEAD', path, operation: 'media.get', handle },
    ],
    authenticate: () => undefined,
    failure,
    malformed: () => refusal(400, 'InvalidArgument'),
    notFound: () => refusal(404, 'NoSuchKey'),
  }
}

function refusal(status: number, code: string): WholeReply {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code></Error>`
  return { kind: 'whole', status, body, headers: { 'content-type': 'application/xml' } }
}

/** Returns the whole file, or the requested range. */
function ranged(bytes: Buffer, contentType: string, range: string | undefined): WholeReply {
  const headers: Record<string, string> = {
    'content-type': contentType,
    'accept-ranges': 'bytes',
    'access-control-allow-origin': '*',
  }
  const found = /^bytes=(\d*)-(\d*)$/.exec(range ?? '')
  if (!found || (found[1] === '' && found[2] === '')) {
    return { kind: 'whole', status: 200, headers, body: bytes }
  }
  const last = bytes.length - 1
  const from = found[1] === '' ? Math.max(0, bytes.length - Number(found[2])) : Number(found[1])
  const to = found[1] === '' || found[2] === '' ? last : Math.min(last, Number(found[2]))
  if (from > to) {
    headers['content-range'] = `bytes */${bytes.length}`
    return { kind: 'whole', status: 416, headers, body: '' }
  }
  headers['content-range'] = `bytes ${from}-${to}/${bytes.length}`
  return { kind: 'whole', status: 206, headers, body: bytes.subarray(from, to + 1) }
}

const SAMPLE_RATE = 8000
const MOST_SECONDS = 7300
const WORDS = 'good morning everybody, let us begin. the numbers of this week are better.'

/** Returns undefined for an unknown name. */
function sampleRecording(name: string, query: string): Buffer | undefined {
  if (name !== 'speech.wav' && name !== 'silence.wav') return undefined
  const stated = Number(new URLSearchParams(query).get('seconds') ?? 10)
  const seconds = Math.min(MOST_SECONDS, Math.max(0, Number.isFinite(stated) ? stated : 10))
  const samples = Buffer.alloc(Math.round(seconds * SAMPLE_RATE) * 2)
  if (name === 'speech.wav') {
    const pace = { unitSeconds: PCM_UNIT_SECONDS, speed: 1, silenceMs: 500 }
    const timeline = timelineOf(WORDS, pace)
    const once = pcmOf(timeline, 0, timeline.units, SAMPLE_RATE)
    if (samples.length > 0) samples.fill(once)
  }
  return Buffer.concat([wavHeader(samples.length, SAMPLE_RATE), samples])
}
