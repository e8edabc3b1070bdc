/** Forms that are damaged, cut off or refused: an answer each time, and no file that stays open. */
import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { GatewayError } from '../../server/base/lib/errors.ts'
import { linkToFile } from '../../server/work/assets/links.ts'
import { readUpload } from '../../server/work/assets/uploads/read-upload.ts'
import { until } from '../support/until.ts'

const TYPE = 'multipart/form-data; boundary=b'
const FIELD = '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nvision\r\n'
const FILE =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n' +
  'Content-Type: text/plain\r\n\r\nsome text\r\n'
const OTHER = FIELD.replace('purpose', 'model')
const FORM = `${FIELD}${FILE}${OTHER}--b--\r\n`
/** A place inside the file. */
const INSIDE = FORM.indexOf(' text\r\n')

interface Outcome {
  readonly kept: string | undefined
  readonly error: unknown
}

/** Returns what was kept, once the request is answered and all that was taken has ended. */
async function send(pieces: readonly Buffer[], type = TYPE): Promise<Outcome> {
  const content = Readable.from(pieces)
  const request = Object.assign(content, { headers: { 'content-type': type }, complete: true })
  const files: Readable[] = []
  let kept: string | undefined
  const reading = readUpload(request as unknown as IncomingMessage, content, {
    async take(_name, file, form) {
      files.push(file)
      const chunks = await file.toArray()
      await form.whole
      kept = `${Buffer.concat(chunks)} ${[...form.fields.values()].join(' ')}`
      return kept
    },
  })
  const [answer] = await Promise.allSettled([reading])
  await until('the files to end', () => files.every((file) => file.closed))
  return { kept, error: answer.status === 'rejected' ? answer.reason : undefined }
}

/** Sends it in one piece and byte by byte. */
async function sendBoth(bytes: Buffer): Promise<readonly Outcome[]> {
  return [await send([bytes]), await send(Array.from(bytes, (byte) => Buffer.from([byte])))]
}

function assertRefused({ kept, error }: Outcome, label: string): void {
  assert.equal(kept, undefined, label)
  assert.ok(error instanceof GatewayError, `${label}: ${error}`)
}

test('fields that follow the file are known before it is kept', async () => {
  for (const { kept, error } of await sendBoth(Buffer.from(FORM))) {
    assert.equal(error, undefined)
    assert.equal(kept, 'some text vision vision')
  }
})

test('whatever byte is damaged, the request is answered and no file stays open', async () => {
  for (let at = 0; at < FORM.length; at += 1) {
    const bytes = Buffer.from(FORM)
    bytes[at] = 0
    // What the parser has begun to read when it meets an error ends in a later piece.
    const outcome = await send([bytes.subarray(0, INSIDE), bytes.subarray(INSIDE)])
    if (outcome.error !== undefined) assertRefused(outcome, `byte ${at}`)
  }
})

test('a form that ends early is refused, and nothing of it is kept', async () => {
  for (let at = 0; at < FORM.length - '--\r\n'.length; at += 1) {
    assertRefused(await send([Buffer.from(FORM.slice(0, at))]), `${at} bytes`)
  }
})

test('a part that invalidates the form after its file lets nothing be kept', async () => {
  const nameless = FIELD.replace('; name="purpose"', '')
  for (const more of [FIELD, FILE, nameless, FIELD.replace('form-data', 'form\0data')]) {
    const form = `${FIELD}${FILE}${more}--b--\r\n`
    for (const outcome of await sendBoth(Buffer.from(form))) assertRefused(outcome, more)
  }
})

test('a content type without a usable boundary is refused', async () => {
  for (const rest of ['', ' boundary', ' boundary=', ' boundary="b', ' charset=utf-8']) {
    const type = `multipart/form-data;${rest}`
    const outcome = await send([Buffer.from(FORM)], type)
    assertRefused(outcome, type)
  }
})

test('a connection that closes before all was read ends the file', async () => {
  const content = new Readable({ read: () => undefined })
  // Of a short form all has arrived before it is read.
  const request = Object.assign(content, { headers: { 'content-type': TYPE }, complete: true })
  const files: Readable[] = []
  let error: unknown
  const reading = readUpload(request as unknown as IncomingMessage, content, {
    take(_name, file) {
      files.push(file)
      return file.toArray()
    },
  })
  reading.catch((reason: unknown) => {
    error = reason
  })
  content.push(FORM.slice(0, INSIDE))
  await until('the file', () => files.length > 0)
  content.destroy()
  await until('a refusal', () => error)
  assert.ok(error instanceof GatewayError, String(error))
  await until('the end of the file', () => files.every((file) => file.closed))
})

test('a long name is cut between characters: half of one is in no address', async () => {
  const name = `${'a'.repeat(199)}\u{20000}.txt`
  const content = Readable.from([Buffer.from(FORM.replace('a.txt', name))])
  const request = Object.assign(content, { headers: { 'content-type': TYPE }, complete: true })
  const kept = await readUpload(request as unknown as IncomingMessage, content, {
    async take(filename, file) {
      await file.resume().toArray()
      return filename
    },
  })
  assert.equal(kept, `${'a'.repeat(199)}_`)
  assert.match(linkToFile('http://gateway', { token: 't', filename: kept }), /a_$/)
})
