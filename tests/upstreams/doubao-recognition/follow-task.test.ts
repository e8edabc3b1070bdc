/** Following a recognition: poll intervals, failed polls, and giving up. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followTask } from '../../../server/wire/upstreams/doubao-recognition/follow-task.ts'
import { UpstreamFailure } from '../../../server/wire/upstreams/failure.ts'
import type { UpstreamTaskOutcome } from '../../../server/wire/upstreams/read-outcome.ts'
import { wire } from '../recording-vendor.ts'

const PROCESSING: UpstreamTaskOutcome = { state: 'processing', document: {} }
const DONE: UpstreamTaskOutcome = { state: 'done', document: { result: { text: 'hello' } } }
const failed = (code: string): UpstreamTaskOutcome => ({
  state: 'failed',
  code,
  message: `code ${code}`,
})
const trouble = () => new UpstreamFailure('busy', { message: 'slow down' })

/** Each poll takes the next answer, the last one for ever; time passes only by waiting. */
async function follow(answers: readonly (UpstreamTaskOutcome | Error)[], deadlineMs = 60_000) {
  const waits: number[] = []
  let elapsedMs = 0
  const patient = {
    ...wire,
    async wait(forMs: number) {
      waits.push(forMs)
      elapsedMs += forMs
      return elapsedMs
    },
  }
  let polls = 0
  const poll = async () => {
    const answer = answers[Math.min(polls, answers.length - 1)]
    polls += 1
    if (!answer || answer instanceof Error) throw answer
    return answer
  }
  const ended = await followTask(patient, poll, deadlineMs).catch((error: unknown) => error)
  return { ended, waits, polls }
}

test('it is polled quickly at first, then every three seconds', async () => {
  const { ended, waits } = await follow([...Array(9).fill(PROCESSING), DONE])
  assert.deepEqual(ended, { document: { result: { text: 'hello' } } })
  assert.deepEqual(waits.slice(0, 3), [250, 375, 562.5])
  assert.deepEqual(waits.slice(-2), [3_000, 3_000])
})

test('failed polls are repeated, also when the id is not known yet', async () => {
  const unknown = failed('45000001')
  const { ended, polls } = await follow([trouble(), unknown, trouble(), PROCESSING, unknown, DONE])
  assert.deepEqual([ended, polls], [{ document: { result: { text: 'hello' } } }, 6])
})

for (const [title, answer] of [
  ['whose state cannot be read', trouble()],
  ['that nobody knows', failed('45000001')],
  ['whose success has no result', { state: 'done', document: {} }],
] as const) {
  test(`a task ${title} is given up after six polls, as unknown`, async () => {
    const { ended, polls } = await follow([answer])
    assert.equal(polls, 6)
    assert.ok(ended instanceof UpstreamFailure && ended.kind === 'unknown')
  })
}

test('a task that does not end is given up at the deadline, never as failed', async () => {
  const { ended, waits } = await follow([PROCESSING], 10_000)
  assert.ok(ended instanceof UpstreamFailure && ended.kind === 'unknown')
  assert.match(ended.message, /no end in time/)
  const waitedMs = waits.reduce((sum, ms) => sum + ms, 0)
  assert.ok(waitedMs > 10_000 && waitedMs < 13_500, `${waitedMs} ms`)
})

test('silence is an end without words; a recording at fault is the caller’s', async () => {
  assert.deepEqual((await follow([failed('20000003')])).ended, {})
  const { ended } = await follow([failed('45000151')])
  assert.ok(ended instanceof UpstreamFailure && ended.kind === 'rejected')
})

test('what the vendor could not fetch is the operator’s', async () => {
  const { ended } = await follow([failed('45000006')])
  assert.ok(ended instanceof UpstreamFailure && ended.kind === 'channel_fault')
  assert.match(ended.message, /^PUBLIC_URL must be reachable/)
})

test('anything else that is thrown is no answer of a vendor', async () => {
  const { ended, polls } = await follow([new TypeError('ours')])
  assert.ok(ended instanceof TypeError && polls === 1)
})
