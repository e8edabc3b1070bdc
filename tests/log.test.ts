/** The log: one line an event, only fields that are allowed, no secret in any of them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { createLog, type LogOptions } from '../server/api/app/log.ts'

/** What is written while `log` is used. */
function written(t: TestContext, options: LogOptions, use: (log: Log) => void): string {
  const write = t.mock.method(process.stdout, 'write', () => true)
  use(createLog(options))
  const text = write.mock.calls.map((call) => String(call.arguments[0])).join('')
  write.mock.restore()
  return text
}

type Log = ReturnType<typeof createLog>

test('JSON: a line with level, time, fields and message', (t) => {
  const text = written(t, { level: 'info', format: 'json' }, (log) => {
    log.warn({ task_id: 'task_1', attempts: 2, charged: 12_345_678_901_234_567_890n }, 'slow\none')
  })
  const { time, ...rest } = JSON.parse(text)
  assert.equal(text.split('\n').length, 2)
  assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000)
  assert.deepEqual(rest, {
    level: 40,
    task_id: 'task_1',
    attempts: 2,
    charged: '12345678901234567890',
    msg: 'slow\none',
  })
})

test('what is not on the list is not written, and secrets nowhere', (t) => {
  const text = written(t, { level: 'trace', format: 'json' }, (log) => {
    // @ts-expect-error: a field that is not on the list does not compile.
    log.info({ prompt: 'a heron' }, 'call')
    const fields = { prompt: 'a heron', reason: 'Bearer abc.def', model: undefined }
    // @ts-expect-error: neither does it among others.
    log.info({ ...fields }, 'call')
    log.error({ error: new Error('refused sk-0123456789abcdef') }, 'failed')
  })
  assert.doesNotMatch(text, /heron|abc\.def|0123456789/)
  assert.match(text, /"reason":"\[secret\]"/)
  assert.match(text, /"message":"refused \[secret\]"/)
})

test('less than the level is not written, and silence writes nothing', (t) => {
  const all = (log: Log) => {
    log.debug({}, 'd')
    log.info({}, 'i')
    log.warn({}, 'w')
    log.error({}, 'e')
  }
  const told = (level: LogOptions['level']) =>
    written(t, { level, format: 'text' }, all).match(/\S$/gm)?.join('') ?? ''
  assert.deepEqual((['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const).map(told), [
    'diwe',
    'diwe',
    'iwe',
    'we',
    'e',
    '',
  ])
})

test('text: for people, with the time of day', (t) => {
  const text = written(t, { level: 'info', format: 'text' }, (log) => {
    log.warn({ waiting: 3, task_id: ['video'] }, 'settlements wait')
  })
  assert.match(text, /^\d\d:\d\d:\d\d WARN settlements wait waiting=3 task_id=\["video"\]\n$/)
})

test('what a reader does not take in time is lost beyond 16 MiB, and a line says how much', async () => {
  const log = new URL('../server/api/app/log.ts', import.meta.url).href
  const script = `
    const { createLog } = await import(${JSON.stringify(log)})
    const log = createLog({ level: 'info', format: 'json' })
    const reason = 'r'.repeat(500)
    for (let count = 0; count < 40_000; count += 1) log.info({ count, reason }, 'line')
    process.stdout.once('drain', () => log.info({}, 'last'))`
  const args = ['--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 })
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const [last, note] = lines.slice(-2)
  assert.deepEqual([last.msg, note.msg, note.level], ['last', 'lines of the log are lost', 40])
  assert.equal(lines.length - 2 + note.count, 40_000)
  assert.ok(stdout.length < 17 * 1024 * 1024 + 65_536, `${stdout.length} bytes`)
})

test('text: what others wrote neither ends its line nor acts on the terminal', (t) => {
  const text = written(t, { level: 'info', format: 'text' }, (log) => {
    log.warn({ reason: 'no\x1b[2J\x9b1m\r\n03:01:48 WARN invented' }, 'refused')
  })
  assert.match(text, /^\S+ WARN refused reason=no \[2J 1m 03:01:48 WARN invented\n$/)
})

test('JSON: what others wrote does not act on the terminal, and is the same once it is read', (t) => {
  const reason = 'no\x1b[2J\x7f\x9b1m\x85\u2028\u202eback\u202c\u2066\u2069 é 中'
  const text = written(t, { level: 'info', format: 'json' }, (log) => {
    log.warn({ reason, error: new Error(reason) }, 'refused')
  })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
  assert.doesNotMatch(text.trimEnd(), /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/)
  assert.match(text, / é 中/)
  assert.equal(JSON.parse(text).reason, reason)
  assert.equal(JSON.parse(text).error.message, reason)
})
