// What a service learns of a file that it is given by address: it fetches from loopback, as it
// would from anywhere, and elsewhere believes the name, since nothing here leaves the machine.
import { isObject } from '../kernel/checks.ts'
import { listen, type SpokenWord } from '../openspeech/audio/listen.ts'
import { noteOf } from './mp4.ts'

export interface Probe {
  kind: 'audio' | 'video'
  seconds: number
  silent: boolean
  /** What is said in it, where a simulator has spoken. */
  words?: SpokenWord[]
  /** What an MP4 of these simulators says of itself. */
  note?: unknown
}

export type ProbeProblem = 'address' | 'download' | 'empty' | 'format'

export type Probed = Probe | { problem: ProbeProblem }

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]'])
const MOST_BYTES = 256 * 1024 * 1024
const TIMEOUT_MS = 20_000
const AUDIO = ['mp3', 'wav', 'aac', 'flac', 'ogg', 'm4a', 'opus', 'raw']
const VIDEO = ['mp4', 'avi', 'mkv', 'mov', 'flv', 'wmv', 'ts']

/** How long a file is that cannot be looked into. */
export const ASSUMED_SECONDS = 60

/** Never throws: what is wrong with the file is part of the answer. */
export async function probe(address: string): Promise<Probed> {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return { problem: 'address' }
  if (!LOOPBACK.has(url.hostname)) return byName(url)
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!response.ok) {
      await response.body?.cancel()
      return { problem: 'download' }
    }
    const bytes = await read(response)
    if (bytes === undefined) return { problem: 'download' }
    return probeBytes(bytes)
  } catch {
    return { problem: 'download' }
  }
}

async function read(response: Response): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MOST_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function byName(url: URL): Probed {
  const extension = /\.([a-z0-9]+)$/i.exec(url.pathname)?.[1]?.toLowerCase() ?? 'mp3'
  const known = { seconds: ASSUMED_SECONDS, silent: false }
  if (VIDEO.includes(extension)) return { kind: 'video', ...known }
  return AUDIO.includes(extension) ? { kind: 'audio', ...known } : { problem: 'format' }
}

/** The same of a file that came with the request. */
export function probeBytes(bytes: Buffer): Probed {
  if (bytes.length === 0) return { problem: 'empty' }
  const found = byContent(bytes)
  if ('problem' in found || found.kind === 'video') return found
  return { ...found, words: listen(bytes)?.words ?? [] }
}

function byContent(bytes: Buffer): Probed {
  const tag = bytes.toString('latin1', 0, 12)
  if (tag.startsWith('RIFF') && tag.endsWith('WAVE')) return wav(bytes)
  if (tag.slice(4, 8) === 'ftyp') return mp4(bytes)
  if (tag.startsWith('OggS')) return ogg(bytes)
  const start = tag.startsWith('ID3') ? 10 + bytes.readUInt32BE(6) : 0
  if (bytes[start] === 0xff && ((bytes[start + 1] ?? 0) & 0xe0) === 0xe0) return mp3(bytes, start)
  return { problem: 'format' }
}

function wav(bytes: Buffer): Probed {
  const format = bytes.indexOf('fmt ', 12, 'latin1')
  const at = bytes.indexOf('data', 12, 'latin1')
  if (format < 0 || at < 0 || bytes.length < format + 24) return { problem: 'format' }
  const rate = bytes.readUInt32LE(format + 16)
  if (rate === 0) return { problem: 'format' }
  const samples = bytes.subarray(at + 8)
  const silent = samples.every((byte) => byte === 0)
  return { kind: 'audio', seconds: samples.length / rate, silent }
}

function ogg(bytes: Buffer): Probed {
  const seconds = listen(bytes)?.seconds
  return seconds === undefined ? { problem: 'format' } : { kind: 'audio', seconds, silent: false }
}

const KBITS = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const LOW_KBITS = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]

/** Layer III at a constant rate. */
function mp3(bytes: Buffer, start: number): Probed {
  const full = ((bytes[start + 1] ?? 0) & 0b1000) !== 0
  const rate = (full ? KBITS : LOW_KBITS)[(bytes[start + 2] ?? 0) >> 4] ?? 0
  if (rate === 0) return { problem: 'format' }
  return { kind: 'audio', seconds: (bytes.length - start) / (rate * 125), silent: false }
}

function mp4(bytes: Buffer): Probed {
  const note = noteOf(bytes)
  const found = { kind: 'video', silent: false, ...(note === undefined ? {} : { note }) } as const
  if (isObject(note) && typeof note.frames === 'number') {
    return { ...found, seconds: note.frames / 24 }
  }
  const header = bytes.indexOf('mvhd', 0, 'latin1')
  if (header < 0 || bytes.length < header + 24) return { problem: 'format' }
  const seconds = bytes.readUInt32BE(header + 20) / bytes.readUInt32BE(header + 16)
  return { ...found, seconds }
}
