/**
 * Reads request bodies within their size limits, and within what their account may have in memory.
 * Content-Length may only lower a limit.
 */
import { isAscii } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { GatewayError } from '../lib/errors.ts'
import type { Portion } from '../lib/memory/budget.ts'
import { Gathering } from '../lib/memory/gathering.ts'
import { PARSED_FACTOR } from '../lib/memory/memory.ts'
import { noteWork } from '../lib/process/loop-watch.ts'
import { SHARED_BYTES } from '../lib/queues/loop-share.ts'
import { accountOf, type Context, takePortion } from './context.ts'
import { bodyCutOff, bodyTooLarge, decodeGathered, openEncoded } from './decode-content.ts'

/** JSON media types that clients use; a missing type is treated as JSON as well. */
const JSON_TYPES = /^(application\/([\w.+-]+\+)?json|text\/(plain|json))\s*(;|$)/i

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** A longer body is collected on disk, since its sender may stop at any byte. */
const ARRIVING_BYTES_MAX = 1024 * 1024
/** The text of a longer body is outside the heap, and is counted in pieces of this many bytes. */
const LONG_BYTES = 1024 * 1024
/** The longest time that a complete body waits for its share of memory. */
const ROOM_WAIT_MS = 20_000
const TOO_MUCH =
  'the requests of this account that run here are too large together: send fewer of them at once'

/** Throws 415 for a body of another media type than JSON. */
export function expectJson({ headers }: IncomingMessage): void {
  const type = headers['content-type']
  if (type !== undefined && !JSON_TYPES.test(type)) throw new GatewayError('unsupported_media')
}

/**
 * Reads the whole body, decoded. Rejects with 413 as soon as it is known to exceed `limitBytes`,
 * with 400 if it is cut off or cannot be decoded, with 415 for another encoding, and with 429 or
 * 503 if there is no room for it.
 */
export async function readBody(context: Context, limitBytes: number): Promise<Buffer> {
  const encoding = openEncoded(context.request, limitBytes)
  // The HTTP parser copies each chunk into a buffer of its own.
  let gathering = gather(context, true)
  try {
    await collect(context, context.request, gathering, limitBytes)
    context.bodyBytes = gathering.bytes
    if (encoding && gathering.bytes > 0) {
      const sent = gathering
      gathering = gather(context, false)
      await decodeGathered(context, sent, encoding, limitBytes, (content) =>
        collect(context, content, gathering, limitBytes),
      ).finally(() => {
        sent.close()
        context.bodyBytes = gathering.bytes
      })
    }
    const portion = takePortion(context, 'request')
    const amount = gathering.bytes * PARSED_FACTOR
    if (!portion.grow(amount)) await waitForRoom(portion, amount)
    context.checkAgain?.()
    const loaded = gathering.load()
    const body = loaded instanceof Promise ? await loaded : loaded
    if (body.length <= LONG_BYTES) portion.noteInHeap(body.length)
    // This request runs in any case, but others wait for the memory that it takes.
    else portion.force(countWideBytes(body))
    // Parsing and validating it follow at once.
    if (body.length >= SHARED_BYTES) await context.memory.loop.turn(accountOf(context))
    return body
  } finally {
    gathering.close()
    noteWork(context)
  }
}

/** Reads a body of JSON, without its byte order mark. Rejects as `readBody` does. */
export async function readJsonBody(context: Context, limitBytes: number): Promise<Buffer> {
  expectJson(context.request)
  const body = await readBody(context, limitBytes)
  const isMarked = BYTE_ORDER_MARK.every((byte, index) => body[index] === byte)
  return isMarked ? body.subarray(BYTE_ORDER_MARK.length) : body
}

/**
 * Returns the bytes of the pieces that are not ASCII: their text takes two bytes for each
 * character.
 */
function countWideBytes(body: Buffer): number {
  let bytes = 0
  for (let at = 0; at < body.length; at += LONG_BYTES) {
    const piece = body.subarray(at, at + LONG_BYTES)
    if (!isAscii(piece)) bytes += piece.length
  }
  return bytes
}

function gather(context: Context, ownsChunks: boolean): Gathering {
  const { memory } = context
  const account = accountOf(context)
  const bytesMax = ARRIVING_BYTES_MAX
  return new Gathering({ memory, account, kind: 'arriving', bytesMax, ownsChunks })
}

async function waitForRoom(portion: Portion, amount: number): Promise<void> {
  if (!(await portion.growSoon(amount, ROOM_WAIT_MS))) throw portion.refuse(amount, TOO_MUCH)
}

/** Resolves once all of the content is kept. */
function collect(
  context: Context,
  content: Readable,
  gathering: Gathering,
  limitBytes: number,
): Promise<void> {
  const { loop } = context.memory
  const account = accountOf(context)
  return new Promise((resolve, reject) => {
    content.on('data', (chunk: Buffer) => {
      if (gathering.bytes + chunk.length > limitBytes) {
        content.removeAllListeners('data')
        content.pause()
        reject(bodyTooLarge(limitBytes))
        return
      }
      const isRoom = gathering.push(chunk)
      const isTime = gathering.bytes < SHARED_BYTES || loop.count(account, chunk.length)
      if (isRoom && isTime) return
      content.pause()
      const waits = [gathering.kept(), ...(isTime ? [] : [loop.turn(account)])]
      Promise.all(waits).then(() => content.resume(), reject)
    })
    content.on('end', () => {
      if (gathering.isOnDisk) gathering.kept().then(resolve, reject)
      else resolve()
    })
    content.on('error', (cause) =>
      reject(cause instanceof GatewayError ? cause : bodyCutOff(cause)),
    )
    content.on('close', () => {
      // Creating an error costs microseconds, and every body is closed in the end.
      if (!content.readableEnded) reject(bodyCutOff())
    })
  })
}
