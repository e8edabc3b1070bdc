/** Answers about tasks in forms that no vendor documents, through the driver of each protocol. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { arkVideo } from '../../server/wire/upstreams/ark/video.ts'
import { dashscopeVideo } from '../../server/wire/upstreams/dashscope/video.ts'
import { doubaoMinutesDriver } from '../../server/wire/upstreams/doubao-minutes/minutes.ts'
import { doubaoRecognitionDriver } from '../../server/wire/upstreams/doubao-recognition/recognition.ts'
import { readErrorBody, UpstreamFailure } from '../../server/wire/upstreams/failure.ts'
import { klingVideo } from '../../server/wire/upstreams/kling/video.ts'
import { mediaVideo } from '../../server/wire/upstreams/media-tasks/video.ts'
import { mediakitErase } from '../../server/wire/upstreams/mediakit/erase.ts'
import { minimaxVideo } from '../../server/wire/upstreams/minimax/video.ts'
import { readSubmitted } from '../../server/wire/upstreams/task-answer.ts'
import type { SubmittedTask, TaskPoll } from '../../server/wire/upstreams/task-driver.ts'
import { type Recorded, startRecorded, wire } from './recording-vendor.ts'

const ID = 'task-1'
const ATTEMPT = { id: 'att_1' }
const VIDEO = { content: [{ type: 'text', text: 'a river' }], resolution: '720p', duration: 6 }
const RECORDING = { file_url: 'https://m.example/a.mp3', file_type: 'audio' }

interface Protocol {
  readonly submitAt: string
  readonly pollAt: string
  readonly submit: (url: string) => Promise<SubmittedTask>
  readonly poll: (url: string) => Promise<TaskPoll>
  /** A success with the id, beside an error that says nothing. */
  readonly accepted: object
  /** An error of the vendor's form under a status of success; the others have it in a header. */
  readonly refused?: object
  /** Whether an HTTP status tells that a task is unknown; the others have a code in a header. */
  readonly byStatus: boolean
}

function orderOf(url: string, upstreamModel: string, parameters: Record<string, unknown>) {
  const plain = { base_url: url, api_key: 'k', callbacks: false, stored_ids: 'own' } as const
  const settings = { ...plain, app_id: 'a', access_token: 't' }
  const sentFields: ReadonlySet<string> = new Set(Object.keys(parameters))
  const reference = { settings, upstreamModel, upstreamId: ID }
  return { order: { settings, upstreamModel, parameters, sentFields, details: {} }, reference }
}

function falOf(url: string) {
  const { order, reference } = orderOf(url, 'owner/films', VIDEO)
  const more = { callbacks: false, stated_usage: true }
  const settings = { base_url: url, api_key: 'k', preset: 'fal' as const, ...more }
  return { order: { ...order, settings }, reference: { ...reference, settings } }
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  ark: {
    submitAt: '/contents/generations/tasks',
    pollAt: `/contents/generations/tasks/${ID}`,
    submit: (url) => arkVideo.submit(wire, orderOf(url, 'seedance', VIDEO).order, ATTEMPT),
    poll: (url) => arkVideo.poll(wire, orderOf(url, 'seedance', VIDEO).reference),
    accepted: { id: ID, error: { code: '', message: '' } },
    refused: { error: { code: 'InternalServiceError', message: 'm' } },
    byStatus: true,
  },
  'minimax-1': {
    submitAt: '/v1/video_generation',
    pollAt: `/v1/query/video_generation?task_id=${ID}`,
    submit: (url) => minimaxVideo.submit(wire, orderOf(url, 'T2V-01', VIDEO).order, ATTEMPT),
    poll: (url) => minimaxVideo.poll(wire, orderOf(url, 'T2V-01', VIDEO).reference),
    accepted: { task_id: ID, error: {}, base_resp: { status_code: 0, status_msg: 'success' } },
    refused: { base_resp: { status_code: 1000, status_msg: 'm' } },
    byStatus: true,
  },
  'minimax-2': {
    submitAt: '/v2/video_generation',
    pollAt: `/v2/query/video_generation/${ID}`,
    submit: (url) => minimaxVideo.submit(wire, orderOf(url, 'MiniMax-H3', VIDEO).order, ATTEMPT),
    poll: (url) => minimaxVideo.poll(wire, orderOf(url, 'MiniMax-H3', VIDEO).reference),
    accepted: { task_id: ID, error: { message: '' } },
    refused: { error: { type: 'server_error', message: 'm' } },
    byStatus: true,
  },
  dashscope: {
    submitAt: '/api/v1/services/aigc/video-generation/video-synthesis',
    pollAt: `/api/v1/tasks/${ID}`,
    submit: (url) =>
      dashscopeVideo.submit(wire, orderOf(url, 'wan3.0-video', VIDEO).order, ATTEMPT),
    poll: (url) => dashscopeVideo.poll(wire, orderOf(url, 'wan3.0-video', VIDEO).reference),
    accepted: { output: { task_id: ID, task_status: 'PENDING' }, code: '', message: '' },
    refused: { code: 'InternalError', message: 'm' },
    byStatus: true,
  },
  kling: {
    submitAt: '/text-to-video/kling-3.0',
    pollAt: `/tasks?task_ids=${ID}`,
    submit: (url) => klingVideo.submit(wire, orderOf(url, 'kling-3.0', VIDEO).order, ATTEMPT),
    poll: (url) => klingVideo.poll(wire, orderOf(url, 'kling-3.0', VIDEO).reference),
    accepted: { code: 0, message: 'SUCCEED', data: { id: ID, status: 'submitted' } },
    refused: { code: 5000, message: 'm' },
    byStatus: true,
  },
  'media-tasks': {
    submitAt: '/owner/films',
    pollAt: `/owner/films/requests/${ID}/status`,
    submit: (url) => mediaVideo.submit(wire, falOf(url).order, ATTEMPT),
    poll: (url) => mediaVideo.poll(wire, falOf(url).reference),
    accepted: { request_id: ID, status: 'IN_QUEUE', error: null },
    byStatus: true,
  },
  mediakit: {
    submitAt: '/api/v1/tools/erase-video-subtitle',
    pollAt: `/api/v1/tasks/${ID}`,
    submit: (url) =>
      mediakitErase.submit(wire, orderOf(url, 'erase-video-subtitle', {}).order, ATTEMPT),
    poll: (url) => mediakitErase.poll(wire, orderOf(url, 'erase-video-subtitle', {}).reference),
    accepted: { success: true, task_id: ID, error: { code: '' } },
    refused: { success: false, error: { code: 'InternalError' } },
    byStatus: true,
  },
  minutes: {
    submitAt: '/api/v3/auc/lark/submit',
    pollAt: '/api/v3/auc/lark/query',
    submit: (url) => doubaoMinutesDriver.submit(wire, orderOf(url, 'm', RECORDING).order, ATTEMPT),
    poll: (url) => doubaoMinutesDriver.poll(wire, orderOf(url, 'm', RECORDING).reference),
    accepted: { Data: { TaskID: ID } },
    byStatus: false,
  },
  recognition: {
    submitAt: '/api/v3/auc/bigmodel/submit',
    pollAt: '/api/v3/auc/bigmodel/query',
    submit: (url) =>
      doubaoRecognitionDriver.submit(wire, orderOf(url, 'm', RECORDING).order, ATTEMPT),
    poll: (url) => doubaoRecognitionDriver.poll(wire, orderOf(url, 'm', RECORDING).reference),
    accepted: {},
    byStatus: false,
  },
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.fail('it did not fail'),
    (failure: UpstreamFailure) => failure,
  )

const OK = 20_000_000
const UNKNOWN_ID = 45_000_001

for (const [name, protocol] of Object.entries(PROTOCOLS)) {
  const { submitAt, pollAt, submit, poll, accepted, refused, byStatus } = protocol
  const answering = async (t: TestContext, path: string, recorded: Recorded) =>
    (await startRecorded(t, () => ({ [path]: recorded }))).url

  test(`${name}: an id is taken whatever the content type, and beside an empty error`, async (t) => {
    for (const type of ['text/plain', 'application/json; charset=utf-8', 'text/html']) {
      const code = byStatus ? {} : { code: OK }
      const url = await answering(t, submitAt, { body: accepted, type, ...code })
      const { upstreamId, refusal } = await submit(url)
      if (name !== 'recognition') assert.equal(upstreamId, ID)
      assert.equal(refusal, undefined)
    }
  })

  test(`${name}: an id is taken under a server error: the vendor has the task`, async (t) => {
    for (const status of [500, 502, 503, 504, 599]) {
      const recorded = { status, body: accepted, ...(byStatus ? {} : { code: OK }) }
      const { upstreamId, refusal } = await submit(await answering(t, submitAt, recorded))
      if (name !== 'recognition') assert.equal(upstreamId, ID)
      // Only a poll tells whether it is the id of a task.
      assert.equal(refusal?.details.status, status)
      for (const body of [{ error: 'overloaded' }, { id: '' }, undefined]) {
        const failure = await failureOf(submit(await answering(t, submitAt, { status, body })))
        assert.equal(failure.details.status, status)
      }
    }
  })

  test(`${name}: an id beside an error is doubted, one beside a refusal is none`, async (t) => {
    if (!refused) return
    const body = { ...accepted, ...refused }
    const { upstreamId, refusal } = await submit(await answering(t, submitAt, { body }))
    assert.equal(upstreamId, ID)
    assert.ok(refusal)
    const failure = await failureOf(submit(await answering(t, submitAt, { status: 400, body })))
    assert.equal(failure.details.status, 400)
  })

  test(`${name}: an undocumented error without an id is a refusal`, async (t) => {
    for (const body of [
      { error: 'overloaded' },
      { Error: { Message: 'overloaded' } },
      { success: false, status: 'succeeded' },
      { STATUS: 'FAILED' },
      { status: 'Cancelled' },
    ]) {
      const { kind, details } = await failureOf(submit(await answering(t, submitAt, { body })))
      const told = JSON.stringify({ body, kind, details })
      assert.deepEqual([kind, details.isStated], ['failed', true], told)
    }
  })

  test(`${name}: a success without an id or an error is unknown`, async (t) => {
    for (const body of [{ error: null }, { error: {}, status: 'queued' }, { success: true }, []]) {
      const { kind } = await failureOf(submit(await answering(t, submitAt, { body })))
      assert.equal(kind, 'unknown', JSON.stringify(body))
    }
  })

  test(`${name}: an error in place of a poll's answer never ends the task`, async (t) => {
    const error = { code: 'InternalServiceError', message: 'try later' }
    for (const recorded of [
      { body: { error } },
      { body: { error: 'try later' } },
      { body: { success: false, error } },
      { body: { base_resp: { status_code: 1000, status_msg: 'try later' } } },
      { body: { status: 'error', message: 'try later' } },
      { body: { status: 'FAIL', data: null } },
      { body: { status: 'failed' } },
      { body: { status: 'Failed', error: 'try later', message: 'no route' } },
      { status: 504, body: { status: 'timeout' } },
      { status: 500, body: { error } },
      { status: 502, body: { error }, type: 'text/plain' },
      { status: 500 },
      { status: 404 },
      { status: 410 },
      {},
    ]) {
      const failure = await failureOf(poll(await answering(t, pollAt, recorded)))
      assert.equal(failure.name, 'UpstreamFailure', JSON.stringify(recorded))
    }
  })

  test(`${name}: what it does not know is not failed at once: it may be found again`, async (t) => {
    const body = { error: { code: 'NotFound', message: 'no such task' } }
    const answers = byStatus
      ? [404, 410].map((status) => ({ status, body }))
      : [{ code: UNKNOWN_ID, message: 'invalid parameter', body: {} }]
    for (const recorded of answers) {
      assert.deepEqual(await poll(await answering(t, pollAt, recorded)), { state: 'gone' })
    }
  })
}

test('ark: an error in place of a task names its reason', async (t) => {
  const body = { error: { code: 'AuthenticationError', message: 'the key has ended' } }
  const { url } = await startRecorded(t, () => ({
    [`/contents/generations/tasks/${ID}`]: { body },
  }))
  const failure = await failureOf(arkVideo.poll(wire, orderOf(url, 'seedance', VIDEO).reference))
  assert.deepEqual([failure.kind, failure.message], ['channel_fault', 'the key has ended'])
})

test('the words of a server error reach its reader, also if they are no JSON', async () => {
  const body = Readable.from([Buffer.from('overloaded')])
  const failure = await failureOf(
    readSubmitted({ status: 503, headers: {}, body }, async (response) => {
      throw new UpstreamFailure('unknown', { message: String(await readErrorBody(response)) })
    }),
  )
  assert.equal(failure.message, 'overloaded')
})
