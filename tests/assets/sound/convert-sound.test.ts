/** The conversion of one recording: what stops it, and what it leaves behind. */
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createMemory } from '../../../server/base/lib/memory/memory.ts'
import { createGuard } from '../../../server/base/outbound/guard.ts'
import {
  type ConvertSound,
  createSoundConverter,
} from '../../../server/work/assets/sound/convert-sound.ts'
import { findFfmpeg } from '../../../server/work/assets/sound/ffmpeg.ts'
import { SoundFault } from '../../../server/work/assets/sound/sound-fault.ts'
import type { UploadToPublish } from '../../../server/work/assets/uploads/publish-upload.ts'
import { WITHOUT_FFMPEG } from '../../support/ffmpeg.ts'
import { until } from '../../support/until.ts'
import { makeSound, serveFiles } from '../../tasks/convert/support.ts'

const ignore = () => undefined
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const LIMITS = { seconds: 7_205, processorSeconds: 600, wallMs: 600_000 }
const guard = createGuard({ policy: () => ({ allowance: 'private', ports: new Set([80, 443]) }) })

interface Bench {
  convert(url: string, signal?: AbortSignal): ReturnType<ConvertSound>
  /** What was published to the end, and what broke off. */
  readonly published: Buffer[]
  readonly spool: string
  readonly spooledBytes: () => number
}

async function open(
  t: TestContext,
  { program, limits = {} }: { program?: string; limits?: Partial<typeof LIMITS> } = {},
): Promise<Bench> {
  const spool = mkdtempSync(join(tmpdir(), 'spool-'))
  t.after(() => rmSync(spool, { recursive: true, force: true }))
  const memory = createMemory(
    {
      bytesMax: 1e8,
      diskBytesMax: 1e9,
      socketsMax: 1,
      folder: spool,
    },
    () => false,
  )
  const ffmpeg = program ? { path: program, prlimit: undefined } : await findFfmpeg('ffmpeg', log)
  assert.ok(ffmpeg)
  const published: Buffer[] = []
  async function publish({ content }: UploadToPublish) {
    published.push(Buffer.concat(await content.toArray()))
    return { url: 'http://own/recording.mp3', end: async () => undefined }
  }
  const convert = createSoundConverter({
    ffmpeg,
    guard,
    findOwn: async () => undefined,
    openFile: memory.openFile,
    publish,
    log,
    limits: { ...LIMITS, ...limits },
  })
  return {
    convert: (url, signal = new AbortController().signal) =>
      convert({ accountId: 'acc', requestId: 'req', url, signal }),
    published,
    spool,
    spooledBytes: () => memory.disk.usedInAll(),
  }
}

/** A program that does what the shell commands say, in place of ffmpeg. */
function fake(t: TestContext, commands: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'fake-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'ffmpeg')
  writeFileSync(path, `#!/bin/sh\n${commands}\n`)
  chmodSync(path, 0o755)
  return path
}

async function serve(t: TestContext) {
  const files = await serveFiles()
  t.after(() => files.stop())
  return files
}

const isFault =
  (code: string, message: RegExp, mayPass = false) =>
  (error: unknown) =>
    error instanceof SoundFault &&
    error.code === code &&
    error.mayPass === mayPass &&
    message.test(error.message)

test('sound of a second is 8,000 bytes', { skip: WITHOUT_FFMPEG }, async (t) => {
  const files = await serve(t)
  const { convert, published, spool, spooledBytes } = await open(t)
  const content = makeSound('a.flac', 10)
  const { seconds, bytes } = await convert(files.put('/a.flac', content))
  assert.equal(bytes, content.length)
  assert.equal(seconds, (published[0]?.length ?? 0) / 8000)
  assert.ok(seconds >= 10 && seconds < 10.5, `${seconds}`)
  assert.deepEqual([readdirSync(spool), spooledBytes()], [[], 0])
})

test('a recording longer than the limit ends there', { skip: WITHOUT_FFMPEG }, async (t) => {
  const files = await serve(t)
  const { convert } = await open(t, { limits: { seconds: 2 } })
  const { seconds } = await convert(files.put('/a.flac', makeSound('a.flac', 10)))
  assert.ok(seconds < 2.5, `${seconds}`)
})

test('a download that breaks off may pass', { skip: WITHOUT_FFMPEG }, async (t) => {
  const files = await serve(t)
  const { convert, published, spooledBytes } = await open(t)
  const url = files.put('/a.flac', makeSound('a.flac', 10), { cutAt: 1_000 })
  await assert.rejects(convert(url), isFault('not_downloaded', /it broke off/, true))
  assert.deepEqual([published, spooledBytes()], [[], 0])
})

test('an address that must not be used is refused for good', async (t) => {
  const { convert } = await open(t, { program: '/bin/true' })
  const refused = convert('http://169.254.169.254/a.m4a')
  await assert.rejects(refused, isFault('not_downloaded', /could not be downloaded/))
})

test('a recording that takes too long is cut, with its process', async (t) => {
  const files = await serve(t)
  const program = fake(t, 'echo $$ >&2; printf x; exec sleep 100000')
  const { convert, published, spooledBytes } = await open(t, {
    program,
    limits: { wallMs: 200 },
  })
  const url = files.put('/a.m4a', Buffer.from('x'))
  await assert.rejects(convert(url), isFault('not_converted', /takes too long/))
  assert.deepEqual([published, spooledBytes()], [[], 0])
})

test('an abort ends the process', async (t) => {
  const files = await serve(t)
  const folder = mkdtempSync(join(tmpdir(), 'pid-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const program = fake(
    t,
    `echo $$ > ${folder}/pid.new; mv ${folder}/pid.new ${folder}/pid
exec sleep 100000`,
  )
  const { convert } = await open(t, { program })
  const stop = new AbortController()
  const converting = convert(files.put('/a.m4a', Buffer.from('x')), stop.signal)
  converting.catch(() => undefined)
  await until('the process', () => readdirSync(folder).includes('pid') || undefined)
  stop.abort()
  await assert.rejects(converting)
})

test('a program that fails names no detail of this machine', async (t) => {
  const files = await serve(t)
  const program = fake(t, 'echo "file:/dev/stdin: secret words" >&2; exit 1')
  const { convert } = await open(t, { program })
  const failed = convert(files.put('/a.m4a', Buffer.from('x')))
  await assert.rejects(
    failed,
    isFault('not_converted', /^the recording cannot be read: convert it/),
  )
})

test('a program that cannot be started is a fault of the gateway', async (t) => {
  const files = await serve(t)
  const { convert } = await open(t, { program: '/nonexistent/ffmpeg' })
  await assert.rejects(convert(files.put('/a.m4a', Buffer.from('x'))), { code: 'ENOENT' })
})

test('it gets no secret of the environment, and can write no file', async (t) => {
  process.env.CANARY_OF_CONVERSION = 'secret'
  t.after(() => delete process.env.CANARY_OF_CONVERSION)
  const files = await serve(t)
  const { convert, published } = await open(t, { program: fake(t, 'env') })
  await convert(files.put('/a.m4a', Buffer.from('x')))
  assert.doesNotMatch(String(published[0]), /CANARY/)
})

test('one that is absent, does not run or has no encoder is none', async (t) => {
  assert.equal(await findFfmpeg('no-such-program-anywhere', log), undefined)
  assert.equal(await findFfmpeg('/no/such/program', log), undefined)
  assert.equal(await findFfmpeg(fake(t, 'exit 1'), log), undefined)
  assert.equal(await findFfmpeg(fake(t, 'echo " A..... flac"'), log), undefined)
  assert.ok(await findFfmpeg(fake(t, 'echo " A..... libmp3lame"'), log))
})
