/** A client that speaks to a raw socket: only there can a reset be told from a close. */
import { connect } from 'node:net'

export interface RawAnswer {
  /** 0 when nothing that looks like an answer came. */
  readonly status: number
  readonly head: string
  /** The bytes after the head, with any chunked framing still in them. */
  readonly body: Buffer
  /** complete: the answer was whole; closed and reset: by the peer; silent: nobody did anything. */
  readonly ending: 'complete' | 'closed' | 'reset' | 'silent'
  /** From the last byte sent to the first byte of the answer, and to the ending. */
  readonly firstByteMs: number
  readonly endMs: number
}

export interface RawOptions {
  readonly timeoutMs?: number
  /** Hang up once this many bytes of the answer, head included, have arrived. */
  readonly leaveAfterBytes?: number
  /** Hang up once the answer, head included, matches. */
  readonly leaveAfter?: RegExp
  /** Close our side after the request, as a caller that breaks off in its middle. */
  readonly halfClose?: boolean
}

/** Writes `request` as it is and reads one answer. Never rejects. */
export function sendRaw(
  url: string,
  request: string | Buffer,
  options: RawOptions = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const isHead = request.slice(0, 5).toString() === 'HEAD '
  return new Promise((resolve) => {
    let sentAt = performance.now()
    let firstAt: number | undefined
    let size = 0
    const arrived: Buffer[] = []
    const socket = connect(Number(port), hostname, () => {
      socket.write(request, () => {
        sentAt = performance.now()
      })
      if (options.halfClose) socket.end()
    })
    const finish = (ending: RawAnswer['ending']) => {
      clearTimeout(timer)
      socket.destroy()
      const now = performance.now()
      const firstByteMs = Math.max(0, (firstAt ?? now) - sentAt)
      resolve({ ...split(arrived), ending, firstByteMs, endMs: Math.max(0, now - sentAt) })
    }
    const timer = setTimeout(() => finish('silent'), options.timeoutMs ?? 60_000)
    socket.on('data', (data: Buffer) => {
      firstAt ??= performance.now()
      arrived.push(data)
      size += data.length
      const { leaveAfterBytes, leaveAfter } = options
      if (leaveAfterBytes !== undefined && size >= leaveAfterBytes) finish('closed')
      else if (leaveAfter?.test(Buffer.concat(arrived).toString('latin1'))) finish('closed')
      else if (isComplete(arrived, isHead)) finish('complete')
    })
    socket.on('end', () => finish('closed'))
    socket.on('close', () => finish('closed'))
    socket.on('error', () => finish('reset'))
  })
}

const INTERIM = /^HTTP\/1\.1 1\d\d.*?\r\n\r\n/s

function isComplete(arrived: Buffer[], isHead: boolean): boolean {
  let all = arrived.length === 1 ? arrived[0] : Buffer.concat(arrived)
  if (!all) return false
  const interim = all.subarray(0, 10).toString('latin1') === 'HTTP/1.1 1' ? all : undefined
  if (interim) all = interim.subarray(INTERIM.exec(interim.toString('latin1'))?.[0].length ?? 0)
  if (arrived.length > 1 || interim) arrived.splice(0, arrived.length, all)
  const end = all.indexOf('\r\n\r\n')
  if (end < 0) return false
  if (isHead) return true
  const head = all.toString('latin1', 0, end)
  const length = /content-length: (\d+)/i.exec(head)
  if (length) return all.length >= end + 4 + Number(length[1])
  return all.subarray(-5).toString('latin1') === '0\r\n\r\n'
}

function split(arrived: readonly Buffer[]): Pick<RawAnswer, 'status' | 'head' | 'body'> {
  const all = Buffer.concat(arrived)
  const end = all.indexOf('\r\n\r\n')
  const head = all.toString('latin1', 0, end < 0 ? all.length : end)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0)
  return { status, head, body: end < 0 ? Buffer.alloc(0) : all.subarray(end + 4) }
}

/** The text of a well-formed JSON request, ready to be sent raw. */
export function rawRequest(
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const all = {
    host: 'gateway',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}
