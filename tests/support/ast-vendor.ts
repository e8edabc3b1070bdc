/**
 * A small scripted vendor of simultaneous interpretation: a real WebSocket server with a protobuf
 * codec of its own. For each two seconds of audio it says one sentence and bills it; `script`
 * makes it fail where a test wants it to.
 */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { type WebSocket, WebSocketServer } from 'ws'

const GROUP_BYTES = 64_000
const OK = 20_000_000

export interface Script {
  /** Answers the upgrade with this status and body. */
  readonly refuse?: { readonly status: number; readonly body: string }
  /** After so many bytes of audio; 0 is before SessionStarted. */
  readonly fail?: { readonly atBytes: number; readonly code: number; readonly message: string }
  readonly end?: {
    readonly atBytes: number
    readonly how: 'reset' | 'close' | 'silence' | 'text' | 'junk' | 'cancel' | 'finish'
  }
  readonly usage?: 'none' | 'empty' | 'input' | 'totals' | 'negative'
  /** The last usage follows the end of the session. */
  readonly billsLate?: true
  /** Of synthesised speech, for each sentence. */
  readonly speechBytes?: number
  /** Does not end the session on request. */
  readonly endless?: true
  /** Does not keep the audio. */
  readonly forgetful?: true
  /** Sends no text for the audio. */
  readonly mute?: true
}

export interface VendorSession {
  readonly headers: IncomingHttpHeaders
  /** Fields 1 to 4 of `request`: mode, source, target, speaker. */
  order: readonly string[]
  /** The format of `target_audio`. */
  target: string
  audio: Buffer[]
  audioBytes: number
  isFinished: boolean
  isClosed: boolean
  /** performance.now() of the first and the last audio. */
  firstAt: number
  lastAt: number
  sentences: number
  /** performance.now() when speech was first sent. */
  spokeAt: number
  /** What was billed. */
  input: number
  output: number
}

export interface AstVendor {
  readonly url: string
  readonly sessions: readonly VendorSession[]
  script: Script
  last(): VendorSession
  /** Ends every connection at once. */
  reset(): void
  stop(): Promise<void>
}

export async function startAstVendor(script: Script = {}): Promise<AstVendor> {
  const sessions: VendorSession[] = []
  const sockets = new Set<WebSocket>()
  const server = createServer((_request, response) => response.writeHead(404).end())
  const websockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
  const vendor: AstVendor = {
    url: '',
    sessions,
    script,
    last() {
      const session = sessions.at(-1)
      if (!session) throw new Error('no session')
      return session
    },
    reset() {
      for (const socket of sockets) socket.terminate()
    },
    async stop() {
      vendor.reset()
      websockets.close()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  server.on('upgrade', (request, socket, head) => {
    const { refuse } = vendor.script
    if (refuse || request.url !== '/api/v4/ast/v2/translate') {
      const { status, body } = refuse ?? { status: 404, body: '' }
      const length = Buffer.byteLength(body)
      socket.end(`HTTP/1.1 ${status} X\r\ncontent-length: ${length}\r\n\r\n${body}`)
      return
    }
    websockets.handleUpgrade(request, socket, head, (opened) => {
      sockets.add(opened)
      opened.on('close', () => sockets.delete(opened))
      const session = newSession(request.headers)
      sessions.push(session)
      serveSession(opened, session, () => vendor.script)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(vendor, { url: `http://127.0.0.1:${port}` })
}

function newSession(headers: IncomingHttpHeaders): VendorSession {
  return {
    headers,
    order: [],
    target: '',
    audio: [],
    audioBytes: 0,
    sentences: 0,
    spokeAt: 0,
    isFinished: false,
    isClosed: false,
    firstAt: 0,
    lastAt: 0,
    input: 0,
    output: 0,
  }
}

function serveSession(socket: WebSocket, session: VendorSession, script: () => Script): void {
  let isDead = false
  const say = (event: number, more?: (writer: BinaryWriter) => void, meta?: Meta) => {
    if (!isDead) socket.send(encode(event, more, meta))
  }
  const fail = ({ code, message }: { code: number; message: string }) => {
    say(153, undefined, { code, message })
    isDead = true
    socket.close()
  }
  const end = (how: NonNullable<Script['end']>['how']) => {
    if (how === 'cancel') say(151)
    else if (how === 'finish') say(152)
    else if (how === 'text') socket.send('not binary')
    else if (how === 'junk') socket.send(Buffer.from([0x0a, 0xff]))
    else if (how === 'close') socket.close(1000)
    else if (how === 'reset') {
      // The pong shows that the gateway has read what was sent before: a reset would discard it.
      socket.once('pong', () => socket.terminate())
      socket.ping()
    }
    isDead = true
  }
  socket.on('error', () => undefined)
  socket.on('close', () => {
    session.isClosed = true
  })
  socket.on('message', (data: Buffer) => {
    if (isDead) return
    const message = fieldsOf(data)
    const now = script()
    const event = message.numbers.get(2)
    if (event === 100) {
      session.order = readTexts(message.parts.get(6), 4)
      session.target = readTexts(message.parts.get(5), 4)[3] ?? ''
      if (now.fail?.atBytes === 0) fail(now.fail)
      else if (now.end?.atBytes === 0) end(now.end.how)
      else say(150)
    } else if (event === 200) {
      hear(session, fieldsOf(message.parts.get(4) ?? Buffer.alloc(0)).parts.get(14), now)
      if (session.audioBytes >= (session.sentences + 1) * GROUP_BYTES) interpret(session, now, say)
      if (now.fail && session.audioBytes >= now.fail.atBytes) fail(now.fail)
      else if (now.end && session.audioBytes >= now.end.atBytes) end(now.end.how)
    } else if (event === 102) {
      session.isFinished = true
      if (now.billsLate) say(152)
      if (session.audioBytes > session.sentences * GROUP_BYTES) interpret(session, now, say)
      if (!now.endless && !now.billsLate) say(152)
    }
  })
}

function hear(session: VendorSession, samples: Buffer | undefined, script: Script): void {
  session.lastAt = performance.now()
  if (session.audioBytes === 0) session.firstAt = session.lastAt
  if (!samples) return
  session.audioBytes += samples.length
  if (!script.forgetful) session.audio.push(samples)
}

type Say = (event: number, more?: (writer: BinaryWriter) => void, meta?: Meta) => void

/** One sentence of source and translation, speech when it is wanted, and the bill. */
function interpret(session: VendorSession, script: Script, say: Say): void {
  const bytes = Math.min(GROUP_BYTES, session.audioBytes - session.sentences * GROUP_BYTES)
  session.sentences += 1
  const number = session.sentences
  const text = (value: string) => (writer: BinaryWriter) =>
    writer.tag(4, WireType.LengthDelimited).string(value)
  if (script.mute) {
    say(250)
  } else {
    say(650)
    say(651, text('第'))
    say(652, text(`第${number}句。`))
    say(653)
    say(654, text('Sent'))
    say(655, text(`Sentence ${number}.`))
    if (session.order[0] === 's2s') speak(session, script, say)
  }
  if (script.usage === 'none') return
  const isTotal = script.usage === 'totals'
  const ms = bytes / 32
  const sign = script.usage === 'negative' ? -1 : 1
  const input = (ms / 160) * sign
  const output = script.mute ? 0 : 10 * sign
  session.input += input
  session.output += output
  const stated = isTotal ? session : { input, output }
  const spoken = session.order[0] === 's2s' ? 'output_audio_tokens' : 'output_text_tokens'
  const billing: NonNullable<Meta['billing']> = [
    ['input_audio_tokens', stated.input],
    [spoken, stated.output],
  ]
  const named = { empty: 0, input: 1 }[String(script.usage)] ?? billing.length
  say(154, undefined, {
    billing: billing.slice(0, named),
    durationMs: isTotal ? session.audioBytes / 32 : ms,
  })
}

function speak(session: VendorSession, { speechBytes = 4_000 }: Script, say: Say): void {
  say(350)
  if (session.spokeAt === 0) session.spokeAt = performance.now()
  const half = Buffer.alloc(speechBytes / 2, session.sentences)
  for (let part = 0; part < 2; part += 1) {
    say(352, (writer) => writer.tag(3, WireType.LengthDelimited).bytes(half))
  }
  say(351)
}

interface Meta {
  readonly code?: number
  readonly message?: string
  readonly billing?: readonly (readonly [unit: string, quantity: number])[]
  readonly durationMs?: number
}

function encode(event: number, more?: (writer: BinaryWriter) => void, meta: Meta = {}): Buffer {
  const { code = OK, message = 'OK', billing, durationMs = 0 } = meta
  const writer = new BinaryWriter()
  writer.tag(1, WireType.LengthDelimited).fork()
  writer.tag(3, WireType.Varint).int32(code)
  writer.tag(4, WireType.LengthDelimited).string(message)
  if (billing) {
    writer.tag(5, WireType.LengthDelimited).fork()
    for (const [unit, quantity] of billing) {
      writer.tag(1, WireType.LengthDelimited).fork()
      writer.tag(1, WireType.LengthDelimited).string(unit)
      writer.tag(2, WireType.Bit32).float(quantity).join()
    }
    writer.tag(2, WireType.Varint).int64(Math.round(durationMs)).join()
  }
  writer.join().tag(2, WireType.Varint).int32(event)
  more?.(writer)
  return Buffer.from(writer.finish())
}

function fieldsOf(bytes: Buffer) {
  const numbers = new Map<number, number>()
  const parts = new Map<number, Buffer>()
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (type === WireType.Varint) numbers.set(field, reader.int32())
    else parts.set(field, Buffer.from(reader.bytes()))
  }
  return { numbers, parts }
}

function readTexts(bytes: Buffer | undefined, count: number): string[] {
  const { parts } = fieldsOf(bytes ?? Buffer.alloc(0))
  return Array.from({ length: count }, (_, index) => parts.get(index + 1)?.toString() ?? '')
}
