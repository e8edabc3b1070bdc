/** Recordings made by ffmpeg, a server of callers' files, and a vendor that takes MP3 alone. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readBody, startServer } from '../../support/servers/local-server.ts'

const SOUND = ['-f', 'lavfi', '-i', 'sine=f=440']
const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=160x120:r=5']

const made = new Map<string, Buffer>()

/** Runs ffmpeg with the output's options, once for each file of that name, which it returns. */
function make(name: string, input: readonly string[], output: readonly string[]): Buffer {
  const key = [name, ...input, ...output].join(' ')
  const content = made.get(key) ?? run(name, input, output)
  made.set(key, content)
  return content
}

function run(name: string, input: readonly string[], output: readonly string[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'recording-'))
  try {
    const path = join(folder, name)
    const { status, stderr } = spawnSync('ffmpeg', ['-v', 'error', ...input, ...output, '-y', path])
    if (status !== 0) throw new Error(`ffmpeg: ${stderr}`)
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A tone of that many seconds; the ending of the name chooses container and codec. */
export const makeSound = (name: string, seconds: number): Buffer =>
  make(name, SOUND, ['-t', String(seconds)])

export const makeVideo = (name: string, seconds: number): Buffer =>
  make(name, [...PICTURE, ...SOUND], ['-t', String(seconds), '-c:v', 'mpeg4'])

export const makeSilentVideo = (name: string): Buffer =>
  make(name, PICTURE, ['-t', '1', '-c:v', 'mpeg4'])

export interface FileServer {
  readonly url: string
  /** The paths that were fetched or asked for. */
  readonly seen: string[]
  /** A file, its type, and the bytes after which the server breaks off. */
  put(path: string, content: Buffer, more?: { type?: string; cutAt?: number }): string
  stop(): void
}

/** A caller's server: 404 for what was not put there. */
export async function serveFiles(): Promise<FileServer> {
  const files = new Map<string, { content: Buffer; type?: string; cutAt?: number }>()
  const seen: string[] = []
  const server = await startServer((request, response) => {
    const path = request.url ?? ''
    seen.push(path)
    const file = files.get(path)
    if (!file) return void response.writeHead(404).end()
    const { content, type = 'application/octet-stream', cutAt } = file
    response.writeHead(200, { 'content-type': type, 'content-length': content.length })
    if (cutAt === undefined || request.method === 'HEAD') return void response.end(content)
    response.write(content.subarray(0, cutAt), () => response.destroy())
  })
  return {
    url: server.url,
    seen,
    put(path, content, more = {}) {
      files.set(path, { content, ...more })
      return server.url + path
    },
    stop: () => void server.stop(),
  }
}

export interface Recogniser {
  readonly url: string
  /** What was fetched from the address of each submission. */
  readonly sounds: { readonly format: string; readonly content: Buffer; readonly url: string }[]
  /** Refuses the next submissions. */
  refuse(code: number): void
  stop(): void
}

/** A vendor of recognition that fetches the sound, and states the length of 64 kbit/s MP3. */
export async function startRecogniser(): Promise<Recogniser> {
  const sounds: { format: string; content: Buffer; url: string }[] = []
  const lengths = new Map<string, number>()
  let refusal: number | undefined
  const server = await startServer(async (request, response) => {
    const id = String(request.headers['x-api-request-id'])
    const body = await readBody(request)
    if (request.url?.endsWith('/submit')) {
      response.setHeader('X-Api-Status-Code', refusal ?? 20000000)
      if (refusal !== undefined) return void response.end('{}')
      const { url, format } = JSON.parse(body).audio
      const content = Buffer.from(await (await fetch(url)).arrayBuffer())
      sounds.push({ format, content, url })
      lengths.set(id, Math.round((content.length / 8000) * 1000))
      return void response.end('{}')
    }
    const duration = lengths.get(id)
    response.setHeader('X-Api-Status-Code', duration === undefined ? 45000001 : 20000000)
    response.end(
      JSON.stringify({ audio_info: { duration }, result: { text: 'x', utterances: [] } }),
    )
  })
  return {
    url: server.url,
    sounds,
    refuse(code) {
      refusal = code
    },
    stop: () => void server.stop(),
  }
}

/** A model of minutes at that vendor, a second of which costs 1. */
export const minutesCatalog = (url: string) => ({
  channels: [
    {
      id: 'recogniser',
      upstream: 'doubao-recognition',
      settings: { base_url: url, api_key: 'speech-key' },
    },
  ],
  models: [
    {
      id: 'converted-minutes',
      type: 'minutes',
      prices: [{ unit: 'second', per: 1, amount: '0.01' }],
      routes: [{ channel: 'recogniser', upstream_model: 'volc.seedasr.auc' }],
    },
  ],
})
